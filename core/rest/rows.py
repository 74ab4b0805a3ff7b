"""The filters and sorting of :mod:`core.rest.filters` for lists that are not in the database."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from ninja import Field

from core.rest.api import LAST_OFFSET, PAGE_LIMIT, Parameters
from core.rest.filters import (
    COMPARISONS,
    DATE,
    ID,
    NEGATED,
    Fields,
    FilterCondition,
    Filtered,
    SortBy,
    SortParameters,
    parse_filters,
    sort_column,
)

Row = TypeVar("Row")
MILLISECOND = 1000  # in microseconds


class OptionalSort(SortParameters):
    """Sorting of a list that has an order of its own, which it keeps unless ``sortBy`` is given."""

    sort_by: SortBy = ""


class OptionalPages(Parameters):
    """Paging of a short list, which is complete unless ``limit`` is given."""

    offset: int = Field(default=0, ge=0, description="How many items to skip")
    limit: int | None = Field(
        default=None,
        ge=1,
        le=PAGE_LIMIT,
        description="The greatest number of items in the answer; all if it is left out",
    )

    def cut(self, rows: Any) -> list[Any]:
        start = min(self.offset, LAST_OFFSET)
        return list(rows[start : start + self.limit if self.limit else None])


class WholeListing(OptionalPages, OptionalSort, Filtered):
    """The filters, search, order and page of a list."""

    def select(self, rows: Iterable[Row], fields: Fields, *names: str) -> list[Row]:
        """Filter, search, sort and cut the rows. ``search`` looks in the attributes ``names``."""
        return self.cut(sort_objects(filter_objects(rows, self, fields, *names), self, fields))


def filter_objects(
    rows: Iterable[Row], parameters: Filtered, fields: Fields, *names: str
) -> list[Row]:
    """Rows that pass every filter and contain the search text in one of the attributes
    ``names``."""
    conditions = list(parse_filters(parameters.filter_by, fields))
    text = parameters.search.casefold()
    return [
        row
        for row in rows
        if all(_passes(row, condition) for condition in conditions)
        and (not text or _has_text(row, text, names))
    ]


def _has_text(row: Any, text: str, names: Iterable[str]) -> bool:
    return any(text in str(getattr(row, name) or "").casefold() for name in names)


def sort_objects(rows: list[Row], by: SortParameters, fields: Fields) -> list[Row]:
    """Sort the rows. ``None`` counts as the largest value; the order of equal rows is kept."""
    if not (column := sort_column(by, fields)):
        return rows

    def sort_key(row: Row) -> tuple[bool, Any]:
        value = getattr(row, column)
        return value is None, "" if value is None else value

    return sorted(rows, key=sort_key, reverse=by.sort_order == "desc")


def _passes(row: Any, condition: FilterCondition) -> bool:
    value = getattr(row, condition.column)
    wanted = condition.wanted
    if value is None:
        return condition.operator in NEGATED
    if condition.kind is ID:
        value = UUID(str(value))
    elif condition.kind is DATE and not wanted.microsecond % MILLISECOND:
        value = _round_to_millisecond(value)
    return COMPARISONS[condition.operator](value, wanted)


def _round_to_millisecond(moment: datetime) -> datetime:
    """Cut to the millisecond, as responses show it."""
    return moment.replace(microsecond=moment.microsecond - moment.microsecond % MILLISECOND)
