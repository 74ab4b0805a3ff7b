"""``/projects/``: who works together, and how much of a cluster is theirs."""

from django.urls import path

from projects.views import pages

urlpatterns = [
    path("projects/", pages.listing, name="project-list"),
    path("projects/new/", pages.create, name="project-create"),
    path("projects/<int:pk>/", pages.detail, name="project-detail"),
    path("projects/<int:pk>/edit/", pages.edit, name="project-edit"),
    path("projects/<int:pk>/delete/", pages.delete, name="project-delete"),
]
