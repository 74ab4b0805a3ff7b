"""``manage.py setup``: what a fresh installation starts with. Run twice, it changes nothing."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from clusters import services as clusters
from projects.models import Department
from workloads import demo


class Command(BaseCommand):
    help = "Create the cluster of this machine, its department and, unless turned off, demo data."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.LOCAL_ENGINE:
            return
        local = clusters.ensure_local()
        clusters.refresh(local)
        department, _ = Department.objects.get_or_create(cluster=local, name="default")
        if settings.DEMO:
            demo.make(local, department)
