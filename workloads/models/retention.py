"""What is kept of deleted workloads, where their output is stored, and when it is removed."""

import shutil
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import CASCADE, PROTECT, Q

#: A deleted workload is kept at least this long, so that a mistake can be noticed, unless retention
#: is set to less.
MINIMUM_RETENTION = timedelta(days=7)


def log_folder(workload_id: UUID) -> Path:
    return Path(settings.LOG_STORE) / str(workload_id)


def remove_logs(workload_id: UUID) -> None:
    shutil.rmtree(log_folder(workload_id), ignore_errors=True)


def removal_time(*, ended: datetime, deleted: datetime) -> datetime:
    """Return when a deleted workload is removed for good."""
    retention = timedelta(days=settings.RETENTION_DAYS)
    return max(ended + retention, deleted + min(retention, MINIMUM_RETENTION))


def retention_sentence(whose: str = "Its") -> str:
    """Return a sentence about what happens to the output of a workload that is deleted now. With
    ``Their`` it is about several workloads."""
    days = min(settings.RETENTION_DAYS, MINIMUM_RETENTION.days)
    if days <= 0:
        return f"{whose} logs, metrics and events are deleted, too."
    unit = "day" if days == 1 else "days"
    return f"{whose} logs, metrics and events are kept for at least {days} {unit}."


def expired_filter(now: datetime) -> Q:
    """Return a filter for deleted workloads whose retention is over. If a workload never completed,
    its deletion counts as its end."""
    retention = timedelta(days=settings.RETENTION_DAYS)
    long_ended = Q(completed_at__lte=now - retention)
    long_ended |= Q(completed_at=None, deleted_at__lte=now - retention)
    return long_ended & Q(deleted_at__lte=now - min(retention, MINIMUM_RETENTION))


def with_the_project(collector: Any, field: Any, rows: Any, using: str) -> None:
    """Delete the project's deleted workloads with their output: the ``on_delete`` of a project.
    ``ProtectedError`` if it has workloads that are not deleted."""
    if rows.filter(deleted_at=None).exists():
        PROTECT(collector, field, rows, using)
        return
    CASCADE(collector, field, rows, using)
    for pk in rows.values_list("pk", flat=True):
        transaction.on_commit(partial(remove_logs, pk), using=using)
