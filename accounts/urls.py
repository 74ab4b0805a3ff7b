"""The addresses of users, groups, roles, service accounts, access keys, sign-ins by code
(``/device/``), general settings and the audit log."""

from django.urls import path

from accounts.devices.views import device
from accounts.http import permission_required
from accounts.views import groups, keys, roles, service_accounts, settings, users
from audit import views as audit

urlpatterns = [
    path("users/", users.listing, name="user-list"),
    path("users/<int:pk>/password/", users.password, name="user-password"),
    path("users/<int:pk>/activity/", users.activity, name="user-activity"),
    path("groups/", groups.listing, name="group-list"),
    path("groups/new/", groups.create, name="group-create"),
    path("groups/<int:pk>/edit/", groups.edit, name="group-edit"),
    path("roles/", roles.listing, name="role-list"),
    path("roles/new/", roles.create, name="role-create"),
    path("roles/<int:pk>/edit/", roles.edit, name="role-edit"),
    path("service-accounts/", service_accounts.listing, name="service-account-list"),
    path("service-accounts/new/", service_accounts.create, name="service-account-create"),
    path(
        "service-accounts/<int:pk>/secret/",
        service_accounts.secret,
        name="service-account-secret",
    ),
    path(
        "service-accounts/<int:pk>/activity/",
        service_accounts.activity,
        name="service-account-activity",
    ),
    path("access-keys/", keys.listing, name="access-key-list"),
    path("access-keys/new/", keys.create, name="access-key-create"),
    path("access-keys/<int:pk>/delete/", keys.delete, name="access-key-delete"),
    path("device/", device, name="device"),
    path("settings/", settings.edit, name="settings"),
    path("audit/", permission_required("audit.read")(audit.listing), name="audit-list"),
]
