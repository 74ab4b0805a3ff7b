"""The addresses of departments, projects and access rules, and of the pages about users, groups,
roles and service accounts that name scopes."""

from django.urls import path

from projects.views import access, departments, pages, users

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
    path("users/<int:pk>/access/", access.person, name="user-access"),
    path("access/<str:scope>/", access.scope_rules, name="scope-access"),
    path("access/<str:scope>/new/", access.add, name="access-rule-create"),
    path("access-rules/<int:pk>/delete/", access.remove, name="access-rule-delete"),
    path("groups/<int:pk>/delete/", access.delete_group, name="group-delete"),
    path("roles/<int:pk>/delete/", access.delete_role, name="role-delete"),
    path(
        "service-accounts/<int:pk>/delete/",
        access.delete_service_account,
        name="service-account-delete",
    ),
]
