"""Bringing what SQLite logged into its file, beside those who write.

SQLite leaves this to whoever's commit makes the log long, who then waits for the disk, for a third
of a second where others keep it busy, and all who wait for their turn to write with them.
"""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from time import sleep, time_ns
from typing import Any

EVERY_SECONDS = 1.0
FILE_CLOCK_NS = 20_000_000  # files written within it may bear the same time


def start(database: dict[str, Any]) -> None:
    """For as long as this process lives, whoever writes. ``database`` is one of Django's settings;
    of another kind it needs nothing."""
    if "sqlite" in database["ENGINE"]:
        path = Path(database["NAME"])
        Thread(target=_go_on, args=[path], name="checkpoints", daemon=True).start()


def _go_on(path: Path) -> None:
    log, written_at = path.with_name(f"{path.name}-wal"), 0
    while True:
        sleep(EVERY_SECONDS)
        with suppress(OSError, sqlite3.Error):  # who writes meets it as well, and tells
            latest, now = log.stat().st_mtime_ns, time_ns()
            if latest != written_at and checkpoint(path) and now - latest > FILE_CLOCK_NS:
                written_at = latest


def checkpoint(path: Path) -> bool:
    """Whether all is in the file now. Nobody who reads or writes has to wait for it."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True)) as connection:
        _, logged, brought = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return bool(logged == brought)
