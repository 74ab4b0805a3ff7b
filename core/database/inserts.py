"""New rows that are written down and not asked about again. Django's ``bulk_create`` puts all their
columns into SQL anew each time, and reads back the keys that the database gives."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from types import NoneType
from typing import Any, Self

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    AutoField,
    BooleanField,
    CharField,
    Field,
    FloatField,
    ForeignKey,
    IntegerField,
    Model,
    TextField,
)

PLACE = "%s"  # of a value in a statement
ATTRIBUTE = "inserts_that_wait"  # of a connection, which is a thread's own


def insert(rows: Iterable[Model]) -> None:
    """Rows of one table, in their order. A key that the database gives stays unknown. Many of them
    take several statements, so call it in a transaction."""
    database, left = connections[DEFAULT_DB_ALIAS], list(rows)
    while left:
        columns, head = _columns(type(left[0]), database.vendor)
        size = database.ops.bulk_batch_size([it.field for it in columns], left)
        now, left = left[:size], left[size:]
        values = [column.value(row, database) for row in now for column in columns]
        _send(database, head + _places(len(columns), len(now)), values)
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
        bound = [ops.compose_sql(*_inlined(sql, values or ())) for sql, values in statements]
        statements = [("; ".join(bound), None)]
    for sql, values in statements:
        _send(database, sql, values)


def _inlined(sql: str, values: Iterable[Any]) -> tuple[str, list[Any]]:
    """With the values in their places that need no quotes, which are most of them: the client takes
    longer to look up how it writes each than all this takes."""
    said = [(value, _literal(value)) for value in values]
    return sql % tuple(text for _, text in said), [it for it, text in said if text == PLACE]


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value)
    return str(value) if type(value) is int else PLACE


def transaction_of_rows() -> AbstractContextManager[None]:
    """Around rows that go :func:`together`, and nothing else that is written: to PostgreSQL their
    one message is a transaction, which nobody has to begin and to commit by two messages more."""
    database = connections[DEFAULT_DB_ALIAS]
    is_one = database.vendor == "postgresql" and not database.in_atomic_block
    return nullcontext() if is_one else transaction.atomic()


def _send(database: BaseDatabaseWrapper, sql: str, values: list[Any] | None) -> None:
    waiting: list[tuple[str, list[Any] | None]] | None = vars(database).get(ATTRIBUTE)
    if waiting is not None:
        waiting.append((sql, values))
        return
    with database.cursor() as cursor:
        cursor.execute(sql, values)


#: Fields that keep such a value as it is, whatever the database.
KEPT_AS_THEY_ARE: tuple[tuple[type["Field[Any, Any]"], frozenset[type]], ...] = (
    (CharField, frozenset({str, NoneType})),
    (TextField, frozenset({str, NoneType})),
    (BooleanField, frozenset({bool, NoneType})),
    (FloatField, frozenset({float, NoneType})),
    (IntegerField, frozenset({int, NoneType})),
    (ForeignKey, frozenset({int, NoneType})),
)


@dataclass(frozen=True)
class FilledColumn:
    """Of a field that we fill. Most values are what the database takes, which Django finds out for
    each of them in five calls."""

    field: "Field[Any, Any]"
    read: Callable[[Model], Any] | None
    kept: frozenset[type]

    @classmethod
    def of(cls, field: "Field[Any, Any]") -> Self:
        plain = type(field).pre_save is Field.pre_save
        kept = (
            values
            for base, values in KEPT_AS_THEY_ARE
            if isinstance(field, base) and _conversions(type(field)) == _conversions(base)
        )
        return cls(field, attrgetter(field.attname) if plain else None, next(kept, frozenset()))

    def value(self, row: Model, database: BaseDatabaseWrapper) -> Any:
        value = self.read(row) if self.read else self.field.pre_save(row, add=True)
        if type(value) in self.kept:
            return value
        return self.field.get_db_prep_save(value, database)


def _conversions(kind: type["Field[Any, Any]"]) -> tuple[Any, ...]:
    return kind.get_prep_value, kind.get_db_prep_value, kind.get_db_prep_save


@cache
def _columns(model: type[Model], vendor: str) -> tuple[list[FilledColumn], str]:
    """Those that we fill, and how the statement begins."""
    fields = [it for it in model._meta.concrete_fields if not isinstance(it, AutoField)]
    quote = connections[DEFAULT_DB_ALIAS].ops.quote_name
    table, names = quote(model._meta.db_table), ", ".join(quote(str(it.column)) for it in fields)
    head = f"INSERT INTO {table} ({names}) VALUES "  # noqa: S608 -- names of the model
    return [FilledColumn.of(field) for field in fields], head


@cache
def _places(columns: int, rows: int) -> str:
    return ", ".join([f"({', '.join([PLACE] * columns)})"] * rows)
