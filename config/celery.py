"""The Celery application: queues and the clock. Tasks live in each package's ``tasks.py``."""

import os
from typing import Any

from celery import Celery, Task
from celery.signals import task_failure, worker_ready, worker_shutting_down

from config.heartbeat import WorkerPulse
from core import garbage, storage
from core.broker import lease
from core.frames import with_room

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class RoomyTask(Task):  # type: ignore[misc] # celery has no types
    """Runs with room for deep calls, however deep the pool calls it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return with_room(self.run, *args, **kwargs)


app = Celery("trainyard", task_cls=RoomyTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["consumer"].add(WorkerPulse)


@worker_ready.connect  # type: ignore[untyped-decorator] # celery has no types
def settle(**signal: Any) -> None:
    garbage.settle()


@task_failure.connect  # type: ignore[untyped-decorator] # celery has no types
def tell(exception: BaseException, **signal: Any) -> None:
    """What keeps the worker from saving is said on every page."""
    if (met := storage.of(exception)) and storage.on_disk() is None:
        storage.remember(met)


@worker_shutting_down.connect  # type: ignore[untyped-decorator] # celery has no types
def let_go(**signal: Any) -> None:
    """A worker waits for its tasks before it ends; those that watch a cluster stop at this."""
    lease.ending.set()
