"""Projects, departments and quotas, as a Django application."""

from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "projects"
