"""Users, sign-in and access keys, as a Django application."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
