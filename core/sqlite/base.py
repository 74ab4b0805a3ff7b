"""Django's SQLite backend with another way of waiting for the write lock.

SQLite lets one transaction write at a time. A transaction that finds the lock taken sleeps for up
to a tenth of a second before it looks again, while others come and go: it may be overtaken again
and again. Here it looks every millisecond, and only one thread of a process at a time does so. See
``docs/adr/0010-turns-on-sqlite.md``.
"""

import sqlite3
import threading
import time

from django.db.backends.sqlite3.base import DatabaseWrapper as DjangoDatabaseWrapper

LOOK_SECONDS = 0.001

_looking = threading.Lock()


class DatabaseWrapper(DjangoDatabaseWrapper):
    def _start_transaction_under_autocommit(self) -> None:
        connection = self.connection
        (patience_ms,) = connection.execute("PRAGMA busy_timeout").fetchone()
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            with self.wrap_database_errors:
                _begin(connection, patience_ms / 1000)
        finally:
            connection.execute(f"PRAGMA busy_timeout = {patience_ms}")


def _begin(connection: sqlite3.Connection, patience: float) -> None:
    """Waits for at most ``patience`` seconds, then raises SQLite's own error."""
    deadline = time.monotonic() + patience
    is_my_turn = _looking.acquire(timeout=patience)
    try:
        while not _begins(connection, last=not is_my_turn or time.monotonic() > deadline):
            time.sleep(LOOK_SECONDS)
    finally:
        if is_my_turn:
            _looking.release()


def _begins(connection: sqlite3.Connection, *, last: bool) -> bool:
    try:
        connection.execute("BEGIN IMMEDIATE")  # reads use no transaction, so this one writes
    except sqlite3.OperationalError as error:
        if last or error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True
