"""Helpers without domain words, as a Django application."""

from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "core"
