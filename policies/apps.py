"""Policies as a Django application."""

from django.apps import AppConfig


class PoliciesConfig(AppConfig):
    name = "policies"
