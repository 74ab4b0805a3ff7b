"""The addresses of departments and projects, and of the pages that create and edit a user, because
those set the user's projects."""

from django.urls import path

from projects.views import departments, pages, users

urlpatterns = [
    path("departments/", departments.listing, name="department-list"),
    path("departments/new/", departments.create, name="department-create"),
    path("departments/<int:pk>/edit/", departments.edit, name="department-edit"),
    path("departments/<int:pk>/delete/", departments.delete, name="department-delete"),
    path("projects/", pages.listing, name="project-list"),
    path("projects/new/", pages.create, name="project-create"),
    path("projects/<int:pk>/", pages.detail, name="project-detail"),
    path("projects/<int:pk>/edit/", pages.edit, name="project-edit"),
    path("projects/<int:pk>/delete/", pages.delete, name="project-delete"),
    path("users/new/", users.create, name="user-create"),
    path("users/<int:pk>/edit/", users.edit, name="user-edit"),
]
