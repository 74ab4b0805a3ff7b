"""Problems with storage: a full or read-only disk, a damaged database. How they are detected, and
what people are told.

``current()`` checks the disks before something is written. ``of(error)`` translates an error of the
database, the system or the broker. Code that answers a request uses both; the worker reports what
it meets with its heartbeats. All of them recover by themselves once there is space again.
"""

import errno
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from django.conf import settings

from core.broker.valkey import connection

REMEMBERED_SECONDS = 20  # how long an error counts that a check of the disks does not show
KEY = "trainyard:storage"
QUIET_SECONDS = 0.5  # how long to skip asking whether another process met an error


@dataclass(frozen=True)
class Trouble:
    """A kind of problem. ``name`` is its word in ``/healthz``, ``text`` is for everyone, and
    ``advice`` for those who can fix it. ``advice`` may contain ``{place}``. ``recovery`` is what
    follows while Trainyard runs; at a start there is nothing yet that could recover."""

    name: str
    title: str
    text: str
    advice: str
    recovery: str = ""
    retry_after: int = 0  # seconds, where trying again may help


RECOVERS = "Trainyard recovers automatically."
FULL = Trouble(
    "full",
    "The disk is full",
    "Nothing can be saved or started until there is space. Running trainings continue.",
    "Free space on {place}, for instance by deleting workloads.",
    RECOVERS,
)
READ_ONLY = Trouble(
    "read-only",
    "The disk is read-only",
    "Nothing can be saved or started until it can be written to. Running trainings continue.",
    "Make {place} writable: systems mount a disk read-only after an error, which their log names.",
    RECOVERS,
)
DAMAGED = Trouble(
    "damaged",
    "The database is damaged",
    "Some of what was saved cannot be read. Running trainings continue.",
    "Stop Trainyard, keep a copy of {place}, and restore the last backup: docs/operations.md.",
)
FAILING = Trouble(
    "failing",
    "The disk reports errors",
    "Some of what was saved cannot be read, or nothing can be saved. Running trainings continue.",
    "Check the system log for errors of the disk that holds {place}.",
)
BUSY = Trouble(
    "busy",
    "The database is busy",
    "Something else has been writing to it for longer than Trainyard waits. Nothing was changed: "
    "try again in a few seconds.",
    "Another program holds a lock on {place}, such as a copy or a shell that is still open.",
    retry_after=5,
)
BY_NAME = {one.name: one for one in (FULL, READ_ONLY, DAMAGED, FAILING, BUSY)}

# Primary result codes of SQLite (the lowest byte), states of PostgreSQL, errors of the system.
BY_SQLITE = {13: FULL, 8: READ_ONLY, 11: DAMAGED, 26: DAMAGED, 10: FAILING, 14: FAILING}
BY_SQLITE |= {5: BUSY, 6: BUSY}
BY_POSTGRESQL = {"53100": FULL, "25006": READ_ONLY, "XX001": DAMAGED, "XX002": DAMAGED}
BY_POSTGRESQL |= {"58030": FAILING}
BY_SYSTEM = {errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EROFS: READ_ONLY, errno.EIO: FAILING}


@dataclass(frozen=True)
class StorageTrouble:
    """A problem and the file, folder or database that has it."""

    trouble: Trouble
    place: str

    @property
    def advice(self) -> str:
        return f"{self._remedy} {self.trouble.recovery}".rstrip()

    @property
    def _remedy(self) -> str:
        return self.trouble.advice.format(place=self.place)

    @property
    def at_start(self) -> str:
        """What to tell whoever starts Trainyard, which ends because of it."""
        again = " Then start Trainyard again." if self.trouble.recovery else ""
        return f"{self.trouble.title} ({self.place}). {self._remedy}{again}"

    def __str__(self) -> str:
        return f"{self.trouble.title} ({self.place}). {self.advice}"

    def encode(self) -> str:
        return f"{self.trouble.name} {self.place}"

    @classmethod
    def decode(cls, text: str) -> "StorageTrouble | None":
        name, _, place = text.partition(" ")
        trouble = BY_NAME.get(name)
        return cls(trouble, place) if trouble else None


def of(error: BaseException | None) -> StorageTrouble | None:
    """The storage problem behind an error or anything it was raised from; ``None`` if it is another
    kind of error."""
    while error is not None:
        if trouble := _of(error):
            # On a full disk the database may be unreadable without being damaged, so look at the
            # disk first.
            return on_disk(reserve=0) or StorageTrouble(trouble, _place(error))
        error = error.__cause__ or error.__context__
    return None


def _of(error: BaseException) -> Trouble | None:
    code: Any = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return BY_SQLITE.get(code & 0xFF)
    if state := getattr(error, "sqlstate", None):
        return BY_POSTGRESQL.get(state)
    if isinstance(error, OSError):
        return BY_SYSTEM.get(error.errno or 0)
    if isinstance(error, redis.ResponseError) and str(error).startswith("MISCONF"):
        return FULL  # the broker cannot write its log
    return None


def _place(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename:
        return str(error.filename)
    return str(settings.DATABASES["default"]["NAME"])


def on_disk(reserve: int | None = None) -> StorageTrouble | None:
    """Check the disks of the data folder and the database for the first problem.

    ``reserve`` is how many bytes must be free, by default ``DISK_RESERVE_BYTES`` or a twentieth of
    the disk. The reserve is for what must be written in any case: how workloads end, and the
    deletions that make room.
    """
    for place in _places():
        status = os.statvfs(place)
        if status.f_flag & os.ST_RDONLY or _takes_no_change(place):
            return StorageTrouble(READ_ONLY, str(place))
        total = status.f_blocks * status.f_frsize
        least = min(settings.DISK_RESERVE_BYTES, total // 20) if reserve is None else reserve
        if status.f_bavail * status.f_frsize <= least:
            return StorageTrouble(FULL, str(place))
    return None


def _takes_no_change(place: Path) -> bool:
    """Whether writes fail although the disk claims to be writable, as on newer kernels after a disk
    error."""
    try:
        os.utime(place)
    except OSError as error:
        return error.errno == errno.EROFS
    return False


def _places() -> Iterator[Path]:
    """The folders this process writes to. Log files are the worker's, which reports problems with
    them."""
    yield Path(settings.HOME)
    database = settings.DATABASES["default"]
    folder = Path(database["NAME"]).parent
    if "sqlite" in database["ENGINE"] and folder.is_dir():
        yield folder


def current() -> StorageTrouble | None:
    """What keeps us from saving now, found on the disks or reported by a recent error; ``None`` if
    nothing."""
    return on_disk() or remembered()


def remember(met: StorageTrouble) -> None:
    """Report a problem to all processes for ``REMEMBERED_SECONDS``; after that somebody may try
    again. A busy database is not reported: the next request may succeed."""
    if met.trouble is BUSY:
        return
    _quiet.until = 0.0
    try:
        connection().set(KEY, met.encode(), ex=REMEMBERED_SECONDS)
    except redis.RedisError:
        return


class _Quiet:
    """Until when this process assumes that nothing was reported (monotonic seconds)."""

    until = 0.0


_quiet = _Quiet()


def remembered() -> StorageTrouble | None:
    if time.monotonic() < _quiet.until:
        return None
    try:
        text = connection().get(KEY)
    except redis.RedisError:
        return None
    if isinstance(text, bytes):
        return StorageTrouble.decode(text.decode())
    _quiet.until = time.monotonic() + QUIET_SECONDS
    return None
