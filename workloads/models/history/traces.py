"""What is left of deleted workloads, where its output lies, and when it all goes."""

import shutil
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import CASCADE, PROTECT, Q

#: After its deletion every workload is kept so long, unless less is set: to take back a mistake.
AT_LEAST = timedelta(days=7)


def log_folder(workload_id: UUID) -> Path:
    return Path(settings.LOG_STORE) / str(workload_id)


def remove_logs(workload_id: UUID) -> None:
    shutil.rmtree(log_folder(workload_id), ignore_errors=True)


def kept_until(*, ended: datetime, deleted: datetime) -> datetime:
    """When the rest of a deleted workload goes: some days after it ended."""
    retention = timedelta(days=settings.RETENTION_DAYS)
    return max(ended + retention, deleted + min(retention, AT_LEAST))


def kept_in_words() -> str:
    """What becomes of the output of a workload that is deleted now."""
    days = min(settings.RETENTION_DAYS, AT_LEAST.days)
    if days <= 0:
        return "Its logs, metrics and events are deleted, too."
    return f"Its logs, metrics and events are kept for at least {days} day{'s' * (days > 1)}."


def expired(now: datetime) -> Q:
    """Deleted workloads of which nothing is kept any longer. One that was deleted while it ran, or
    could have run again, ended then."""
    retention = timedelta(days=settings.RETENTION_DAYS)
    long_ended = Q(completed_at__lte=now - retention)
    long_ended |= Q(completed_at=None, deleted_at__lte=now - retention)
    return long_ended & Q(deleted_at__lte=now - min(retention, AT_LEAST))


def with_the_project(collector: Any, field: Any, rows: Any, using: str) -> None:
    """``on_delete``: what is kept of deleted workloads goes with their project, output included.
    One that is not deleted keeps it, by ``ProtectedError``."""
    keeps = rows.filter(deleted_at=None).exists()
    rule = PROTECT if keeps else CASCADE
    rule(collector, field, rows, using)
    for pk in () if keeps else rows.values_list("pk", flat=True):
        transaction.on_commit(partial(remove_logs, pk), using=using)
