"""Notifications and webhooks, as a Django application."""

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "notifications"
