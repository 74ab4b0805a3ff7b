"""Statements past the cursors of Django and psycopg, whose processing of each statement takes
longer than the answer."""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from itertools import count
from typing import Any

NATIVE = "postgresql"
PLACE = "%s"  # Django's parameter marker
MARK = re.compile(r"%[%s]")  # a marker, or an escaped percent sign


def ask(database: Any, text: str, values: Sequence[Any]) -> list[Any]:
    """Execute a query and return its rows. ``text`` comes from :func:`marked`."""
    with _executed(database, text, values) as cursor:
        rows: list[Any] = cursor.fetchall()
    return rows


def do(database: Any, text: str, values: Sequence[Any]) -> None:
    """Execute a statement that returns no rows."""
    with _executed(database, text, values):
        pass


@contextmanager
def _executed(database: Any, text: str, values: Sequence[Any]) -> Iterator[Any]:
    database.ensure_connection()
    database.validate_no_broken_transaction()
    with database.wrap_database_errors, closing(_cursor(database)) as cursor:
        cursor.execute(text, values)
        yield cursor


def _cursor(database: Any) -> Any:
    if database.vendor == NATIVE:
        return database.Database.RawCursor(database.connection)  # parameters stay on the server
    return database.connection.cursor()


def is_watched(database: Any) -> bool:
    """Whether Django logs or wraps the statements of this connection, as tests do."""
    return bool(database.queries_logged or database.execute_wrappers)


@lru_cache(1000)
def marked(sql: str, vendor: str) -> str:
    """The statement with the database's own markers: ``$1``, ``$2`` and so on for PostgreSQL, ``?``
    for SQLite."""
    numbers = count(1)

    def own(mark: re.Match[str]) -> str:
        if mark[0] != PLACE:
            return "%"
        return f"${next(numbers)}" if vendor == NATIVE else "?"

    return MARK.sub(own, sql)
