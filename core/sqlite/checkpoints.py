"""Checkpoint SQLite's write-ahead log in a background thread.

By default SQLite leaves this to the writer whose commit makes the log long. That writer then waits
for the disk, for a third of a second if the disk is busy, and everyone waiting to write waits too.
"""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from time import sleep, time_ns
from typing import Any

EVERY_SECONDS = 1.0
FILE_CLOCK_NS = 20_000_000  # file times are this coarse: two writes within it may look like one


def start_checkpoints(database: dict[str, Any]) -> None:
    """Start the thread; it runs as long as the process. ``database`` is an entry of ``DATABASES``.
    Does nothing for other databases than SQLite."""
    if "sqlite" in database["ENGINE"]:
        path = Path(database["NAME"])
        Thread(target=_run, args=[path], name="checkpoints", daemon=True).start()


def _run(path: Path) -> None:
    log = path.with_name(f"{path.name}-wal")
    written_at = 0
    while True:
        sleep(EVERY_SECONDS)
        with suppress(OSError, sqlite3.Error):  # writers get the same error, and report it
            latest = log.stat().st_mtime_ns
            now = time_ns()
            if latest != written_at and checkpoint(path) and now - latest > FILE_CLOCK_NS:
                written_at = latest


def checkpoint(path: Path) -> bool:
    """Copy the log into the database file without blocking readers or writers. Return whether all
    of the log was copied."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True)) as connection:
        _, logged, copied = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return bool(logged == copied)
