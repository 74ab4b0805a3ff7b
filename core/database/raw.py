"""Statements that go to PostgreSQL as they are, with their values beside them: what the cursors of
Django and of the client make of each takes longer than the answer."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from typing import Any

NATIVE = "postgresql"
PLACE = "%s"  # of a value in a statement, as Django has it
MARK = re.compile(r"%[%s]")  # a place, or a percent sign, which is written twice


def ask(database: Any, text: str, values: Sequence[Any]) -> list[Any]:
    """The rows that it answers with. ``text`` is of :func:`numbered`."""
    with _executed(database, text, values) as cursor:
        rows: list[Any] = cursor.fetchall()
    return rows


def do(database: Any, text: str, values: Sequence[Any]) -> None:
    """The same of a statement that answers with nothing."""
    with _executed(database, text, values):
        pass


@contextmanager
def _executed(database: Any, text: str, values: Sequence[Any]) -> Iterator[Any]:
    database.ensure_connection()
    database.validate_no_broken_transaction()
    with database.wrap_database_errors, database.Database.RawCursor(database.connection) as cursor:
        cursor.execute(text, values)
        yield cursor


def is_watched(database: Any) -> bool:
    """Whether somebody counts statements, or stands around them, as Django has it."""
    return bool(database.queries_logged or database.execute_wrappers)


@lru_cache(1000)
def numbered(sql: str) -> str:
    """PostgreSQL's own places, ``$1`` and so on."""
    numbers = count(1)
    return MARK.sub(lambda it: f"${next(numbers)}" if it[0] == PLACE else "%", sql)
