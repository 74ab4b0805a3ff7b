"""Workloads, from the draft to the end, as a Django application."""

from django.apps import AppConfig


class WorkloadsConfig(AppConfig):
    name = "workloads"

    def ready(self) -> None:
        from workloads.policies import confirmation

        confirmation.connect()
