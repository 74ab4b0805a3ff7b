"""New rows that are written down and not asked about again. Django's ``bulk_create`` puts all their
columns into SQL anew each time, and reads back the keys that the database gives."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache, lru_cache
from operator import attrgetter
from types import NoneType
from typing import Any, Self, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    AutoField,
    BooleanField,
    CharField,
    DateTimeField,
    Field,
    FloatField,
    ForeignKey,
    IntegerField,
    JSONField,
    Model,
    TextField,
    UUIDField,
)
from django.utils import timezone

from core.database import raw
from core.database.raw import NATIVE, PLACE

ATTRIBUTE = "inserts_that_wait"  # of a connection, which is a thread's own
Row = TypeVar("Row")
MOST_VALUES = 30_000  # of one statement: PostgreSQL takes 65,535


@dataclass(frozen=True)
class Insertion:
    """One statement: so many rows of so many values, one after another in ``values``."""

    head: str
    columns: int
    rows: int
    values: list[Any]

    @property
    def text(self) -> str:
        return self.head + _places(self.columns, self.rows)

    @property
    def shape(self) -> tuple[str, int, int]:
        return self.head, self.columns, self.rows


def insert(rows: Iterable[Model]) -> None:
    """Rows of one table, in their order. A key that the database gives stays unknown. Many of them
    take several statements, so call it in a transaction."""
    database, every = connections[DEFAULT_DB_ALIAS], list(rows)
    if not every:
        return
    columns, head = _columns(type(every[0]), database.vendor)
    for now in _batches(database, columns, every):
        values = [column.value(row, database) for row in now for column in columns]
        _send(database, Insertion(head, len(columns), len(now), values))
        for row in now:
            row._state.adding, row._state.db = False, database.alias


def insert_values(model: type[Model], rows: Iterable[Mapping[str, Any]]) -> None:
    """The same of rows of which nobody needs an object: each is what it does not leave to the
    defaults, by the names of the columns' attributes; ``TypeError`` of another name."""
    database, every = connections[DEFAULT_DB_ALIAS], list(rows)
    columns, head = _columns(model, database.vendor)
    usual = _usual(model, database.vendor)
    if strange := set().union(*every) - {it.name for it in columns}:
        raise TypeError(f"{model.__name__} has no {', '.join(sorted(strange))}")
    for now in _batches(database, columns, every):
        values = [
            column.prepared(row[column.name], database)
            if column.name in row
            else column.default(database)
            if fixed is _EACH_TIME
            else fixed
            for row in now
            for column, fixed in zip(columns, usual, strict=True)
        ]
        _send(database, Insertion(head, len(columns), len(now), values))


def _batches(database: Any, columns: Sequence[Any], rows: list[Row]) -> Iterator[list[Row]]:
    """As many at a time as one statement of this database takes."""
    size = max(database.ops.bulk_batch_size([it.field for it in columns], rows), 1)
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


@contextmanager
def together() -> Iterator[None]:
    """What is inserted within goes to the database at its end, on PostgreSQL in one statement.
    Until then nothing can read it, and no row is refused. One within another is a mistake."""
    database = connections[DEFAULT_DB_ALIAS]
    if ATTRIBUTE in vars(database):
        raise RuntimeError("What is inserted here goes together with what is around it already.")
    waiting: list[Insertion] = []
    vars(database)[ATTRIBUTE] = waiting
    try:
        yield
    finally:
        del vars(database)[ATTRIBUTE]
    few = sum(len(it.values) for it in waiting) <= MOST_VALUES
    # Who stands around statements stands around those of a cursor of Django's.
    if database.vendor == NATIVE and few and not database.execute_wrappers:
        _send_at_once(database, waiting)
        return
    with transaction.atomic(savepoint=False):
        for insertion in waiting:
            _send(database, insertion)


def _send_at_once(database: Any, insertions: list[Insertion]) -> None:
    """In one statement, and with the values beside it: to write them into its text takes the client
    longer than all the rest of it."""
    if not insertions:
        return
    text = _one_statement(tuple(it.shape for it in insertions))
    values = [value for it in insertions for value in it.values]
    database.close_if_health_check_failed()
    if database.queries_logged:
        texts = (database.ops.compose_sql(it.text, it.values) for it in insertions)
        database.queries_log.append({"sql": "; ".join(texts), "time": ""})
    raw.do(database, text, values)


@lru_cache(256)
def _one_statement(shapes: tuple[tuple[str, int, int], ...]) -> str:
    texts, taken = [], 0
    for head, columns, rows in shapes:
        numbers = (f"${taken + number}" for number in range(1, columns * rows + 1))
        groups = zip(*[numbers] * columns, strict=True)
        texts.append(head + ", ".join(f"({', '.join(group)})" for group in groups))
        taken += columns * rows
    *first, last = texts
    parts = ", ".join(f"part{number} AS ({text})" for number, text in enumerate(first))
    return f"WITH {parts} {last}" if parts else last


def transaction_of_rows() -> AbstractContextManager[None]:
    """Around rows that go :func:`together`, and nothing else that is written: to PostgreSQL their
    one statement is a transaction, which nobody has to begin and to commit by two messages more."""
    database = connections[DEFAULT_DB_ALIAS]
    is_one = database.vendor == NATIVE and not database.in_atomic_block
    return nullcontext() if is_one else transaction.atomic()


def _send(database: BaseDatabaseWrapper, insertion: Insertion) -> None:
    waiting: list[Insertion] | None = vars(database).get(ATTRIBUTE)
    if waiting is not None:
        waiting.append(insertion)
        return
    with database.cursor() as cursor:
        cursor.execute(insertion.text, insertion.values)


#: Fields that keep such a value as it is, whatever the database.
KEPT_AS_THEY_ARE: tuple[tuple[type["Field[Any, Any]"], frozenset[type]], ...] = (
    (CharField, frozenset({str, NoneType})),
    (TextField, frozenset({str, NoneType})),
    (BooleanField, frozenset({bool, NoneType})),
    (FloatField, frozenset({float, NoneType})),
    (IntegerField, frozenset({int, NoneType})),
    (DateTimeField, frozenset({NoneType})),
    (ForeignKey, frozenset({int, NoneType})),
)
#: The same of a database with types of its own for them.
KEPT_NATIVE: tuple[tuple[type["Field[Any, Any]"], frozenset[type]], ...] = (
    (UUIDField, frozenset({UUID, NoneType})),
    (ForeignKey, frozenset({int, UUID, NoneType})),
    (DateTimeField, frozenset({datetime, NoneType})),
)
_EACH_TIME = object()  # in place of a default that is another for each row


@dataclass(frozen=True)
class FilledColumn:
    """Of a field that we fill. Most values are what the database takes, which Django finds out for
    each of them in five calls."""

    field: "Field[Any, Any]"
    name: str
    read: Callable[[Model], Any] | None
    kept: frozenset[type]
    is_text: bool
    is_json: bool

    @classmethod
    def of(cls, field: "Field[Any, Any]", vendor: str) -> Self:
        plain = type(field).pre_save is Field.pre_save or not _is_clock(field)
        tables = (*(KEPT_NATIVE if vendor == NATIVE else ()), *KEPT_AS_THEY_ARE)
        kept = (
            values
            for base, values in tables
            if isinstance(field, base) and _conversions(type(field)) == _conversions(base)
        )
        return cls(
            field,
            field.attname,
            attrgetter(field.attname) if plain else None,
            next(kept, frozenset()),
            isinstance(field, CharField | TextField),
            vendor == NATIVE and isinstance(field, JSONField),
        )

    def value(self, row: Model, database: BaseDatabaseWrapper) -> Any:
        value = self.read(row) if self.read else self.field.pre_save(row, add=True)
        return self.prepared(value, database)

    def prepared(self, value: Any, database: BaseDatabaseWrapper) -> Any:
        if type(value) in self.kept:
            return value
        if self.is_json and value is not None and not value:
            return json.dumps(value)  # as text, without an adapter: a row has several of these
        if self.is_text:
            if type(value) is str and not value:
                return value  # whatever a field makes of texts, nothing stays nothing
            if isinstance(value, StrEnum):
                return self.prepared(value.value, database)
        return self.field.get_db_prep_save(value, database)

    def default(self, database: BaseDatabaseWrapper) -> Any:
        value = timezone.now() if _is_clock(self.field) else self.field.get_default()
        return self.prepared(value, database)

    @property
    def varies(self) -> bool:
        """Whether its default is another for each row."""
        default = self.field.default
        is_made = self.field.has_default() and callable(default) and default not in {list, dict}
        return is_made or _is_clock(self.field)


def _is_clock(field: "Field[Any, Any]") -> bool:
    return bool(getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False))


def _conversions(kind: type["Field[Any, Any]"]) -> tuple[Any, ...]:
    return kind.get_prep_value, kind.get_db_prep_value, kind.get_db_prep_save


@cache
def _columns(model: type[Model], vendor: str) -> tuple[list[FilledColumn], str]:
    """Those that we fill, and how the statement begins."""
    fields = [it for it in model._meta.concrete_fields if not isinstance(it, AutoField)]
    quote = connections[DEFAULT_DB_ALIAS].ops.quote_name
    table, names = quote(model._meta.db_table), ", ".join(quote(str(it.column)) for it in fields)
    head = f"INSERT INTO {table} ({names}) VALUES "  # noqa: S608 -- names of the model
    return [FilledColumn.of(field, vendor) for field in fields], head


@cache
def _usual(model: type[Model], vendor: str) -> list[Any]:
    """What each column has where nothing is said of it."""
    database = connections[DEFAULT_DB_ALIAS]
    columns, _ = _columns(model, vendor)
    return [_EACH_TIME if it.varies else it.default(database) for it in columns]


@cache
def _places(columns: int, rows: int) -> str:
    return ", ".join([f"({', '.join([PLACE] * columns)})"] * rows)
