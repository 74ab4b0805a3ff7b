"""``/users/``: who may sign in. ``/access-keys/``: the programs that act for someone."""

from django.urls import path

from accounts.views import keys, users

urlpatterns = [
    path("users/", users.listing, name="user-list"),
    path("users/new/", users.create, name="user-create"),
    path("users/<int:pk>/edit/", users.edit, name="user-edit"),
    path("users/<int:pk>/password/", users.password, name="user-password"),
    path("users/<int:pk>/activity/", users.activity, name="user-activity"),
    path("access-keys/", keys.listing, name="access-key-list"),
    path("access-keys/new/", keys.create, name="access-key-create"),
    path("access-keys/<int:pk>/delete/", keys.delete, name="access-key-delete"),
]
