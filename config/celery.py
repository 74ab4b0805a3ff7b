"""The Celery application: queues and the clock. Tasks live in each package's ``tasks.py``."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_ready, worker_shutting_down

from config.heartbeat import WorkerPulse
from core import garbage, lease

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("trainyard")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["consumer"].add(WorkerPulse)


@worker_ready.connect  # type: ignore[untyped-decorator] # celery has no types
def settle(**signal: Any) -> None:
    garbage.settle()


@worker_shutting_down.connect  # type: ignore[untyped-decorator] # celery has no types
def let_go(**signal: Any) -> None:
    """A worker waits for its tasks before it ends; those that watch a cluster stop at this."""
    lease.ending.set()
