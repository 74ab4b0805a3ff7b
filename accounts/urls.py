"""The addresses of users, groups, access keys, sign-ins by code (``/device/``), general settings
and the audit log."""

from django.urls import path

from accounts.devices.views import device
from accounts.http import permission_required
from accounts.views import groups, keys, settings, users
from audit import views as audit

urlpatterns = [
    path("users/", users.listing, name="user-list"),
    path("users/<int:pk>/password/", users.password, name="user-password"),
    path("users/<int:pk>/activity/", users.activity, name="user-activity"),
    path("groups/", groups.listing, name="group-list"),
    path("groups/new/", groups.create, name="group-create"),
    path("groups/<int:pk>/edit/", groups.edit, name="group-edit"),
    path("groups/<int:pk>/delete/", groups.delete, name="group-delete"),
    path("access-keys/", keys.listing, name="access-key-list"),
    path("access-keys/new/", keys.create, name="access-key-create"),
    path("access-keys/<int:pk>/delete/", keys.delete, name="access-key-delete"),
    path("device/", device, name="device"),
    path("settings/", settings.edit, name="settings"),
    path("audit/", permission_required("audit.read")(audit.listing), name="audit-list"),
]
