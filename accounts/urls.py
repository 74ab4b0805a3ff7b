"""``/users/``: who may sign in."""

from django.urls import path

from accounts.views import users

urlpatterns = [
    path("users/", users.listing, name="user-list"),
    path("users/new/", users.create, name="user-create"),
    path("users/<int:pk>/edit/", users.edit, name="user-edit"),
    path("users/<int:pk>/password/", users.password, name="user-password"),
    path("users/<int:pk>/activity/", users.activity, name="user-activity"),
]
