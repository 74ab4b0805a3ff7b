"""Keep a reserve of the disk free for writes that must not fail: the ends of workloads, and
deletions.

While less than the reserve is free, submissions and uploads are refused with ``DiskFull``, and
``/healthz`` and every page say so.
"""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, OperationalError
from redis import ResponseError

TITLE = "The disk is full"
TEXT = "New workloads and uploads are refused until there is space. Running trainings continue."
FULL_ERRORS = {errno.ENOSPC, errno.EDQUOT}


class DiskFull(Exception):
    """Less than the reserve is free, so this submission or upload is refused."""


def require_space() -> None:
    """Call this before something large or lasting is saved. Raises ``DiskFull``."""
    if folder := full_folder():
        raise DiskFull(f"{TITLE} ({folder}).")


def full_folder(reserve: int | None = None) -> Path | None:
    """The folder whose disk has no more than ``reserve`` bytes free, or ``None``. By default the
    reserve is ``DISK_RESERVE_BYTES``, or a twentieth of a smaller disk."""
    for folder in _folders():
        status = os.statvfs(folder)
        total = status.f_blocks * status.f_frsize
        least = min(settings.DISK_RESERVE_BYTES, total // 20) if reserve is None else reserve
        if status.f_bavail * status.f_frsize <= least:
            return folder
    return None


def _folders() -> Iterator[Path]:
    """The folders that this process writes to."""
    yield Path(settings.HOME)
    if settings.DATASETS.is_dir():
        yield settings.DATASETS
    database = settings.DATABASES["default"]
    folder = Path(database["NAME"]).parent
    if "sqlite" in database["ENGINE"] and folder.is_dir():
        yield folder


def advice(folder: Path | str) -> str:
    """What an administrator can do about a full disk."""
    return f"Free space on {folder}, for instance by deleting workloads."


def is_full(error: BaseException) -> bool:
    """Whether something could not be saved because the disk is full."""
    if isinstance(error, OSError):
        return error.errno in FULL_ERRORS
    return isinstance(error, DiskFull) or (is_outage(error) and full_folder() is not None)


def is_outage(error: BaseException) -> bool:
    """Whether the database or the broker's file could not be used: it is locked, out of reach,
    damaged, or has no space. Errors of Django's other classes are about what was asked of it."""
    if isinstance(error, ResponseError):
        return str(error).startswith("MISCONF")  # the broker cannot write its file
    return type(error) in {DatabaseError, OperationalError}
