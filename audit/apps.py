"""The audit log, as a Django application."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "audit"
