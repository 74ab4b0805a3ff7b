"""Assets that workloads are made of, as a Django application."""

from django.apps import AppConfig


class AssetsConfig(AppConfig):
    name = "assets"

    def ready(self) -> None:
        from assets import imposed

        imposed.connect()
