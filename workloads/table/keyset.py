"""Find pages by key instead of by number, so that a page deep in 100,000 rows costs no more than
the first.

A key consists of a column, the creation time and the id, all in one direction, as in the indexes.
The rows after a position are read in ranges, each of which an index can answer alone: rows with the
same column and creation time, rows with the same column, and all others.
"""

import base64
import binascii
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import Q
from django.db.models.fields import Field

from core.text import parse_json
from workloads.models import Workload, WorkloadQuerySet

Position = tuple[Any, ...]


@dataclass(frozen=True)
class Key:
    """An order of workloads in which no two are equal, because it ends with the id."""

    fields: tuple[str, ...]
    descending: bool

    @classmethod
    def for_field(cls, field: str, *, descending: bool) -> "Key":
        """Return the order by ``field``, then creation time and id."""
        return cls(tuple(dict.fromkeys((field, "created_at", "id"))), descending)

    @property
    def order(self) -> list[str]:
        sign = "-" if self.descending else ""
        return [sign + field for field in self.fields]

    def reversed(self) -> "Key":
        return Key(self.fields, not self.descending)


def read_positions(
    rows: WorkloadQuerySet, key: Key, *, after: Position | None, limit: int
) -> list[Position]:
    """Return the positions of at most ``limit`` rows after the position ``after``, or of the first
    rows if that is ``None``. The last part of a position is the row's id."""
    ordered = rows.order_by(*key.order).values_list(*key.fields)
    if after is None:
        return list(ordered[:limit])
    positions: list[Position] = []
    # Each range is a query of its own, because an index can answer it alone.
    for condition in _range_conditions(key, after):
        positions += ordered.filter(condition)[: limit - len(positions)]
        if len(positions) >= limit:
            break
    return positions


def _range_conditions(key: Key, after: Position) -> Iterator[Q]:
    """Yield conditions for the rows after the position ``after``, the nearest rows first."""
    pairs = list(zip(key.fields, after, strict=True))
    for index in range(len(pairs) - 1, -1, -1):
        same = Q()
        for field, value in pairs[:index]:
            same &= Q(**{f"{field}__isnull": True}) if value is None else Q(**{field: value})
        for beyond in _conditions_beyond(*pairs[index], descending=key.descending):
            yield same & beyond


def _conditions_beyond(field: str, value: Any, *, descending: bool) -> Iterator[Q]:
    """Yield conditions for the values that come after ``value``."""
    # Databases differ in whether NULL comes first or last.
    empty_first = connection.features.order_by_nulls_first != descending
    if value is None:
        if empty_first:
            yield Q(**{f"{field}__isnull": False})
        return
    yield Q(**{f"{field}__{'lt' if descending else 'gt'}": value})
    if not empty_first and field not in NEVER_EMPTY:
        yield Q(**{f"{field}__isnull": True})


NEVER_EMPTY = frozenset(
    field.name
    for field in Workload._meta.get_fields()
    if isinstance(field, Field) and not field.null
)


def encode(position: Position) -> str:
    """Return the position as a token for the address."""
    text = json.dumps([_to_json_value(value) for value in position], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(token: str, key: Key) -> Position | None:
    """Return the position; ``None`` if the token is damaged or belongs to another order."""
    try:
        values = parse_json(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except (binascii.Error, ValueError):
        return None
    if not isinstance(values, list) or len(values) != len(key.fields):
        return None
    try:
        pairs = zip(key.fields, values, strict=True)
        return tuple(_from_json_value(field, value) for field, value in pairs)
    except (ValidationError, TypeError, ValueError, OverflowError):
        return None


def _to_json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def _from_json_value(name: str, value: Any) -> Any:
    if value is None and name not in NEVER_EMPTY:
        return None
    if "__" in name:
        return str(value)
    field = Workload._meta.get_field(name)
    if value is None:
        raise ValueError(f"{name} is never empty")
    python_value = field.to_python(value) if isinstance(field, Field) else None
    if isinstance(python_value, datetime):
        return python_value.astimezone(UTC)
    return python_value
