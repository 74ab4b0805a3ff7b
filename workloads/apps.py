"""Workloads, from the draft to the end, as a Django application."""

from django.apps import AppConfig


class WorkloadsConfig(AppConfig):
    name = "workloads"
