"""Filters by column, which are part of the address: ``f=gpus:ge:2``."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from django.db.models import Model, Q, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date

from accounts.models import User
from assets.models import Template
from clusters.models import Cluster
from projects.models import Department, Project
from workloads.models import WorkloadQuerySet
from workloads.table.columns import BY_KEY, Column, ColumnKind

OPERATORS: dict[ColumnKind, dict[str, str]] = {
    ColumnKind.TEXT: {"has": "contains", "is": "is", "not": "is not", "starts": "starts with"},
    ColumnKind.CHOICE: {"is": "is", "not": "is not"},
    ColumnKind.NUMBER: {"eq": "=", "ge": "≥", "le": "≤"},
    ColumnKind.DATE: {"within": "within the last", "after": "from", "before": "before"},
    ColumnKind.PLAIN: {},
}
TEXT_LOOKUPS = {"has": "icontains", "is": "iexact", "not": "iexact", "starts": "istartswith"}
AGE = re.compile(r"^(\d{1,5})\s*(min|h|d|w)$")
AGE_UNITS = {"min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
LONGEST = 200
MOST_NAMES = 5000  # projects or people that one text may match
OR = "|"  # separates several values of a choice

# Names in other tables are resolved to ids first: with ids the database can estimate the number of
# rows, and the query reads the table of workloads alone.
RELATED_NAMES: dict[str, tuple[str, type[Model], str]] = {
    "project__name": ("project__in", Project, "name"),
    "project__department__name": ("project__department__in", Department, "name"),
    "created_by__username": ("created_by__in", User, "username"),
    "cluster__name": ("cluster__in", Cluster, "name"),
    "template__name": ("template__in", Template, "name"),
}


class BadFilter(ValueError):
    """The filter is not valid. The message describes a valid one."""


@dataclass(frozen=True)
class Filter:
    """One condition. An invalid filter is ignored; its ``problem`` says why."""

    key: str
    operator: str
    value: str
    problem: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a filter such as ``gpus:ge:2``. An invalid filter gets a ``problem``."""
        key, _, rest = text.partition(":")
        operator, _, value = rest.partition(":")
        new = cls(key[:LONGEST], operator[:LONGEST], value.strip()[:LONGEST])
        try:
            new.condition()
        except BadFilter as problem:
            return replace(new, problem=str(problem))
        return new

    def __str__(self) -> str:
        return f"{self.key}:{self.operator}:{self.value}"

    @property
    def column(self) -> Column | None:
        return BY_KEY.get(self.key)

    @property
    def label(self) -> str:
        """The filter in words: ``Status is Running or Pending``."""
        column = self.column
        if column is None:
            return str(self)
        names = dict(column.choices)
        values = [names.get(value, value) for value in self.value.split(OR)]
        operator = OPERATORS[column.kind].get(self.operator, self.operator)
        return f"{column.label} {operator} {' or '.join(values)} {column.unit_name}".strip()

    def condition(self) -> Q:
        """Return the condition for the database. Raises ``BadFilter`` if the filter is not
        valid."""
        column = self.column
        if column is None or not column.can_filter_by:
            raise BadFilter(f"There is no column {self.key!r} to filter by.")
        if self.operator not in OPERATORS[column.kind]:
            raise BadFilter(f"{self.operator!r} is not a way to filter {column.label}.")
        if not self.value:
            raise BadFilter("Enter a value.")
        build = {
            ColumnKind.TEXT: self._text_condition,
            ColumnKind.CHOICE: self._choice_condition,
            ColumnKind.NUMBER: self._number_condition,
            ColumnKind.DATE: self._date_condition,
        }[column.kind]
        return build(column)

    def _text_condition(self, column: Column) -> Q:
        matches = match_text(column.field, TEXT_LOOKUPS[self.operator], self.value)
        return ~matches if self.operator == "not" else matches

    def _choice_condition(self, column: Column) -> Q:
        values = self.value.split(OR)
        labels = dict(column.choices)
        unknown = [value for value in values if value not in labels]
        if unknown:
            raise BadFilter(f"{unknown[0]!r} is not one of {', '.join(labels)}.")
        matches = Q(**{f"{column.field}__in": values})
        return ~matches if self.operator == "not" else matches

    def _number_condition(self, column: Column) -> Q:
        try:
            number = float(self.value) * column.unit
        except ValueError:
            raise BadFilter(f"{self.value!r} is not a number.") from None
        if not abs(number) < 1e18:
            raise BadFilter(f"{self.value!r} is too large a number.")
        if self.operator == "eq":
            # Stored floats rarely equal the number that somebody types.
            tolerance = max(abs(number) * 1e-9, 1e-9)
            return Q(**{f"{column.field}__range": (number - tolerance, number + tolerance)})
        lookup = "gte" if self.operator == "ge" else "lte"
        return Q(**{f"{column.field}__{lookup}": number})

    def _date_condition(self, column: Column) -> Q:
        if self.operator == "within":
            return Q(**{f"{column.field}__gte": timezone.now() - _parse_age(self.value)})
        lookup = "gte" if self.operator == "after" else "lt"
        return Q(**{f"{column.field}__{lookup}": _parse_day(self.value)})


def match_text(field: str, lookup: str, value: str) -> Q:
    """Return the condition that Django's ``lookup`` of ``value`` in ``field`` matches."""
    if field not in RELATED_NAMES:
        return Q(**{f"{field}__{lookup}": value})
    ids_lookup, model, name = RELATED_NAMES[field]
    rows: QuerySet[Any] = model._default_manager.filter(**{f"{name}__{lookup}": value})
    ids = list(rows.order_by().values_list("pk", flat=True)[:MOST_NAMES])
    return Q(**{ids_lookup: ids})


def search(rows: WorkloadQuerySet, text: str) -> WorkloadQuerySet:
    """Return the workloads with ``text`` in their name, image, project or creator."""
    fields = ("name", "image", "project__name", "created_by__username")
    condition = Q()
    for field in fields:
        condition |= match_text(field, "icontains", text)
    return rows.filter(condition)


def _parse_age(value: str) -> timedelta:
    match = AGE.match(value.strip())
    if not match:
        raise BadFilter(f"{value!r} is not a time span; write one like 30 min, 24 h, 7 d or 2 w.")
    return timedelta(**{AGE_UNITS[match[2]]: int(match[1])})


def _parse_day(value: str) -> datetime:
    try:
        day = parse_date(value)
    except ValueError:
        day = None
    if day is None:
        raise BadFilter(f"{value!r} is not a day; write one like 2026-11-21.")
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
