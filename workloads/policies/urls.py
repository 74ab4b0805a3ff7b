"""The addresses of the editor of policies."""

from django.urls import path

from workloads.policies import views

urlpatterns = [
    path("policies/new/", views.create, name="policy-create"),
    path("policies/<uuid:pk>/edit/", views.edit, name="policy-edit"),
]
