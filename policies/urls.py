"""The addresses of policies, and of the policy that holds in a project."""

from django.urls import path

from policies.views import effective, pages

urlpatterns = [
    path("policies/", pages.listing, name="policy-list"),
    path("policies/<uuid:pk>/", pages.detail, name="policy-detail"),
    path("policies/<uuid:pk>/delete/", pages.delete, name="policy-delete"),
    path("projects/<int:pk>/policy/", effective.effective_policy, name="project-policy"),
]
