"""New rows that are written down and not asked about again. Django's ``bulk_create`` puts all their
columns into SQL anew each time, and reads back the keys that the database gives."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import AutoField, Field, Model

ATTRIBUTE = "inserts_that_wait"  # of a connection, which is a thread's own


def insert(rows: Iterable[Model]) -> None:
    """Rows of one table, in their order. A key that the database gives stays unknown. Many of them
    take several statements, so call it in a transaction."""
    database, left = connections[DEFAULT_DB_ALIAS], list(rows)
    while left:
        fields, head = _columns(type(left[0]), database.vendor)
        size = database.ops.bulk_batch_size(fields, left)
        now, left = left[:size], left[size:]
        _send(database, head + _places(len(fields), len(now)), _values(fields, now, database))
        for row in now:
            row._state.adding, row._state.db = False, database.alias


@contextmanager
def together() -> Iterator[None]:
    """What is inserted within goes to the database at its end, on PostgreSQL in one message. Until
    then nothing can read it, and no row is refused."""
    database = connections[DEFAULT_DB_ALIAS]
    statements: list[tuple[str, list[Any] | None]] = []
    vars(database)[ATTRIBUTE] = statements
    try:
        yield
    finally:
        del vars(database)[ATTRIBUTE]
    ops: Any = database.ops
    if database.vendor == "postgresql" and statements:  # the client binds the values, as is usual
        bound = [ops.compose_sql(sql, values) for sql, values in statements]
        statements = [("; ".join(bound), None)]
    for sql, values in statements:
        _send(database, sql, values)


def _send(database: BaseDatabaseWrapper, sql: str, values: list[Any] | None) -> None:
    waiting: list[tuple[str, list[Any] | None]] | None = vars(database).get(ATTRIBUTE)
    if waiting is not None:
        waiting.append((sql, values))
        return
    with database.cursor() as cursor:
        cursor.execute(sql, values)


@cache
def _columns(model: type[Model], vendor: str) -> tuple[list["Field[Any, Any]"], str]:
    """Those that we fill, and how the statement begins."""
    fields = [it for it in model._meta.concrete_fields if not isinstance(it, AutoField)]
    quote = connections[DEFAULT_DB_ALIAS].ops.quote_name
    table, names = quote(model._meta.db_table), ", ".join(quote(str(it.column)) for it in fields)
    return fields, f"INSERT INTO {table} ({names}) VALUES "  # noqa: S608 -- names of the model


@cache
def _places(columns: int, rows: int) -> str:
    return ", ".join([f"({', '.join(['%s'] * columns)})"] * rows)


def _values(
    fields: Sequence["Field[Any, Any]"], rows: Sequence[Model], database: BaseDatabaseWrapper
) -> list[Any]:
    return [
        field.get_db_prep_save(field.pre_save(row, add=True), database)
        for row in rows
        for field in fields
    ]
