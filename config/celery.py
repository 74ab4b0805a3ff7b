"""The Celery application. Tasks live in each package's ``tasks.py``; queues and the beat schedule
are in the settings."""

import os
from typing import Any

from celery import Celery, Task
from celery.signals import worker_ready, worker_shutting_down

from config.heartbeat import WorkerPulse
from core import garbage
from core.broker import lease
from core.frames import with_room

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class RoomyTask(Task):  # type: ignore[misc] # celery has no types
    """Reserves stack space for deep calls (see :mod:`core.frames`), however deep the pool calls the
    task."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return with_room(self.run, *args, **kwargs)


app = Celery("trainyard", task_cls=RoomyTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["consumer"].add(WorkerPulse)


@worker_ready.connect  # type: ignore[untyped-decorator] # celery has no types
def tune_worker(**signal: Any) -> None:
    garbage.tune_collector()


@worker_shutting_down.connect  # type: ignore[untyped-decorator] # celery has no types
def end_leases(**signal: Any) -> None:
    """End the leases of this worker. It waits for running tasks before it exits, and the tasks that
    watch a cluster return once their lease cannot be extended."""
    lease.shutting_down.set()
