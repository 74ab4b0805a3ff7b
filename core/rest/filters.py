"""``filterBy``, ``sortBy`` and ``search`` of lists, in Run:ai's grammar.

A filter is ``field<op>value`` with ``==  !=  <=  >=  =@`` (contains) ``!@`` (does not) ``=^``
(starts with) ``=$`` (ends with); dates are ISO 8601. Each list has a table of its fields.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from operator import ge, le
from typing import Annotated, Any, Literal, Self, TypeVar
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone
from ninja import Field

from core.rest.api import ApiError, Issue, Parameters


class ListOfNames:
    """The type of a JSON column with a list of names. A filter matches single names of the list."""


Rows = TypeVar("Rows", bound=QuerySet[Any])
TEXT = str
NUMBER = float
DATE = datetime
ID = UUID
#: API name → column and type. Instead of a type, a mapping gives the column's value for each
#: allowed word.
Fields = Mapping[str, tuple[str, type | Mapping[str, str]]]

FILTER_BY = "filterBy"
SORT_BY = "sortBy"
LARGEST = 1e18
ALMOST_A_MILLISECOND = timedelta(microseconds=999)
LOOKUPS = {
    "==": ("exact", False),
    "!=": ("exact", True),
    "<=": ("lte", False),
    ">=": ("gte", False),
    "=@": ("icontains", False),
    "!@": ("icontains", True),
    "=^": ("istartswith", False),
    "=$": ("iendswith", False),
}
#: The same operators on values of rows that are not in the database.
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda value, wanted: bool(value == wanted),
    "!=": lambda value, wanted: bool(value != wanted),
    "<=": le,
    ">=": ge,
    "=@": lambda value, wanted: wanted.casefold() in value.casefold(),
    "!@": lambda value, wanted: wanted.casefold() not in value.casefold(),
    "=^": lambda value, wanted: value.casefold().startswith(wanted.casefold()),
    "=$": lambda value, wanted: value.casefold().endswith(wanted.casefold()),
}
TEXT_ONLY = {"=@", "!@", "=^", "=$"}
#: On a column of a few words, text operators become membership of the words that match.
AMONG = "among"
NOT_AMONG = "not among"
LOOKUPS |= {AMONG: ("in", False), NOT_AMONG: ("in", True)}
COMPARISONS |= {
    AMONG: lambda value, wanted: value in wanted,
    NOT_AMONG: lambda value, wanted: value not in wanted,
}
NEGATED = {operator for operator, (_, negated) in LOOKUPS.items() if negated}
#: How a name is found in the JSON text of a list, where each name is in quotation marks.
LIST_LOOKUPS = {
    "==": ("regex", '"{}"'),
    "!=": ("regex", '"{}"'),
    "=@": ("iregex", '"[^"]*{}[^"]*"'),
    "!@": ("iregex", '"[^"]*{}[^"]*"'),
    "=^": ("iregex", '"{}'),
    "=$": ("iregex", '{}"'),
}
OPERATOR = r"(==|!=|<=|>=|=@|!@|=\^|=\$)"
GRAMMAR = re.compile(rf"^(\w+){OPERATOR}(.*)$", re.DOTALL)
#: A comma between two filters; any other comma belongs to a value.
FILTER_SEPARATOR = re.compile(r",\s*(?=\w+(?:==|!=|<=|>=|=@|!@|=\^|=\$))")

SortBy = Annotated[str, Field(description="The field that the list is sorted by")]
SortOrder = Annotated[Literal["asc", "desc"], Field(description="asc or desc")]


class Filtered(Parameters):
    filter_by: list[str] = Field(
        default=[],
        max_length=20,
        description=(
            "A filter, field<op>value, with one of == != <= >= =@ !@ =^ =$; several filters are "
            "combined with and"
        ),
    )
    search: str = Field(
        default="",
        max_length=200,
        description="Text that the name, or another text shown in the list, contains",
    )


class SortParameters(Parameters):
    sort_by: SortBy = "createdAt"
    sort_order: SortOrder = "asc"


@dataclass(frozen=True)
class FilterCondition:
    """A parsed filter: a column, an operator and the value to compare with."""

    column: str
    kind: type | Mapping[str, str]
    operator: str
    wanted: Any

    @classmethod
    def parse(cls, text: str, fields: Fields) -> Self:
        parsed = GRAMMAR.match(text)
        if not parsed:
            example = "name==train or createdAt>=2026-01-31T00:00:00Z"
            raise _filter_error(text, "cannot be read", "format", f"Write {example}.")
        name, operator, value = parsed.groups()
        column, kind = _find_field(name, text, fields)
        if isinstance(kind, Mapping) and operator in TEXT_ONLY:
            return cls(column, kind, *_matching_words(kind, operator, value))
        if operator in TEXT_ONLY and kind not in {TEXT, ListOfNames}:
            raise _filter_error(text, f"{operator} works on text only")
        if kind is ListOfNames and operator not in LIST_LOOKUPS:
            raise _filter_error(text, f"{operator} does not work on a list of names")
        return cls(column, kind, operator, _parse_value(value, kind, text))

    def as_query(self) -> Q:
        (lookup, negated) = LOOKUPS[self.operator]
        wanted = self.wanted
        if self.kind is ListOfNames:
            lookup, pattern = LIST_LOOKUPS[self.operator]
            wanted = pattern.format(re.escape(wanted))
        if self.kind is DATE and lookup in {"exact", "lte"}:
            lookup, wanted = _by_millisecond(lookup, wanted)
        condition = Q(**{f"{self.column}__{lookup}": wanted})
        return ~condition if negated else condition


def _matching_words(words: Mapping[str, str], operator: str, text: str) -> tuple[str, list[str]]:
    passes = COMPARISONS["=@" if operator == "!@" else operator]
    passing = [value for word, value in words.items() if passes(word, text)]
    return NOT_AMONG if operator == "!@" else AMONG, passing


def word_choices(words: Iterable[str]) -> dict[str, str]:
    """Return the type of a column that contains one of these words. A filter with another word is
    refused."""
    return {str(word): str(word) for word in words}


def parse_filters(filters: Iterable[str], fields: Fields) -> Iterator[FilterCondition]:
    """Parse filters. ``ApiError`` 400 names one that cannot be read."""
    for text in chain.from_iterable(map(FILTER_SEPARATOR.split, filters)):
        yield FilterCondition.parse(text, fields)


def filter_queryset(rows: Rows, filters: Iterable[str], fields: Fields) -> Rows:
    """Rows that pass every filter. ``ApiError`` 400 names a filter that cannot be read."""
    for condition in parse_filters(filters, fields):
        rows = rows.filter(condition.as_query())
    return rows


def sort_queryset(rows: Rows, by: SortParameters, fields: Fields) -> Rows:
    """Sort a queryset. Without ``sortBy`` the list keeps its own order."""
    if not (column := sort_column(by, fields)):
        return rows
    sign = "-" if by.sort_order == "desc" else ""
    return rows.order_by(f"{sign}{column}", f"{sign}pk")


def sort_column(by: SortParameters, fields: Fields) -> str:
    """The column to sort by; empty without ``sortBy``."""
    return _find_field(by.sort_by, f"{SORT_BY}={by.sort_by}", fields)[0] if by.sort_by else ""


def _by_millisecond(lookup: str, moment: datetime) -> tuple[str, Any]:
    """Compare times by millisecond, as responses show them, so that a shown time matches
    its row."""
    last = moment if moment.microsecond % 1000 else moment + ALMOST_A_MILLISECOND
    return ("lte", last) if lookup == "lte" else ("range", (moment, last))


def _find_field(name: str, text: str, fields: Fields) -> tuple[str, type | Mapping[str, str]]:
    if name not in fields:
        names = ", ".join(sorted(fields))
        raise _filter_error(text, f"there is no field {name!r}", "options", f"Known: {names}.")
    return fields[name]


def _parse_value(text: str, kind: type | Mapping[str, str], whole: str) -> Any:
    if isinstance(kind, Mapping):
        if text not in kind:
            words = ", ".join(filter(None, kind)) + (", or nothing" if "" in kind else "")
            raise _filter_error(
                whole, f"{text!r} is not a value of this field", "options", f"Known: {words}."
            )
        return kind[text]
    try:
        return READERS[kind](text)
    except (ValueError, OverflowError) as error:
        wanted = {NUMBER: "a number", DATE: "a date in ISO 8601", ID: "an id", TEXT: "text"}[kind]
        raise _filter_error(whole, f"{text!r} is not {wanted}", "type") from error


def _filter_error(text: str, fault: str, rule: str = "", details: str = "") -> ApiError:
    """The error for a filter, or for ``sortBy=…``."""
    field = SORT_BY if text.startswith(f"{SORT_BY}=") else FILTER_BY
    issue = Issue(field=field, details=" ".join(filter(None, (f"{fault}.", details))), rule=rule)
    return ApiError(400, f"{field} {text!r}: {fault}.", details=details, issues=[issue])


def _parse_number(text: str) -> float:
    number = float(text)
    if not abs(number) < LARGEST:
        raise ValueError("NaN, or more than a column holds")
    return number


def _parse_moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else timezone.make_aware(moment)).astimezone(UTC)


READERS: dict[type, Callable[[str], Any]] = {
    TEXT: str,
    NUMBER: _parse_number,
    DATE: _parse_moment,
    ID: UUID,
    ListOfNames: str,
}
