"""What the table shows, all of it in the address: search, filters, order, columns, page."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self
from urllib.parse import urlencode

from django.http import QueryDict

from accounts.models import User
from core.query import search_text
from workloads.models import Workload, WorkloadQuerySet
from workloads.table import filters as filtering
from workloads.table.columns import BY_KEY, COLUMNS, DEFAULT, Column, Kind
from workloads.table.filters import OR, Filter
from workloads.table.keyset import Key

NEWEST_FIRST = "-created"
MOST_FILTERS = 20


@dataclass(frozen=True)
class State:
    """``sort`` is a column's key, with ``-`` for descending. Only one of ``after`` and ``before``
    counts: the position that the page starts after, or ends before."""

    search: str = ""
    filters: tuple[Filter, ...] = ()
    sort: str = NEWEST_FIRST
    columns: tuple[Column, ...] = field(default=DEFAULT)
    after: str = ""
    before: str = ""

    @classmethod
    def parse(cls, query: QueryDict) -> Self:
        """Of an address. What cannot be read is left out, or shown as what it is."""
        filters = [Filter.parse(text) for text in query.getlist("f")[:MOST_FILTERS] if text]
        if added := _added(query):
            filters.append(added)
        sort = query.get("sort", NEWEST_FIRST)
        column = BY_KEY.get(sort.removeprefix("-"))
        chosen = {key for text in query.getlist("columns") for key in text.split(",")}
        columns = tuple(column for column in COLUMNS if column.key in chosen)
        return cls(
            search=search_text(query),
            filters=tuple(dict.fromkeys(filters)),
            sort=sort if column and column.sorts else NEWEST_FIRST,
            columns=_with_name(columns) if columns else DEFAULT,
            after=query.get("after", ""),
            before=query.get("before", ""),
        )

    @property
    def descending(self) -> bool:
        return self.sort.startswith("-")

    @property
    def sorted_by(self) -> Column:
        return BY_KEY[self.sort.removeprefix("-")]

    @property
    def key(self) -> Key:
        return Key.by(self.sorted_by.field, descending=self.descending)

    @property
    def is_filtered(self) -> bool:
        return bool(self.search or self.filters)

    @property
    def shows_newest(self) -> bool:
        """Whether a workload that is made now belongs on top of this page."""
        return self.sort == NEWEST_FIRST and not (self.after or self.before)

    def rows(self, user: User) -> WorkloadQuerySet:
        """The workloads that the user may see and the filters let through, in no order."""
        found = Workload.objects.visible_to(user).order_by()
        for condition in self.filters:
            if not condition.problem:
                found = found.filter(condition.condition())
        return filtering.search(found, self.search) if self.search else found

    @property
    def chips(self) -> list[tuple[Filter, "State"]]:
        """Each filter, and the table without it."""
        return [
            (one, self.with_(filters=tuple(f for f in self.filters if f != one)))
            for one in self.filters
        ]

    @property
    def heads(self) -> list[tuple[Column, "State | None", str]]:
        """Each column, the table sorted by it (the other way round if it is), its order now."""
        return [self._head(column) for column in self.columns]

    def _head(self, column: Column) -> tuple[Column, "State | None", str]:
        if not column.sorts:
            return column, None, ""
        if column != self.sorted_by:
            first = "-" if column.kind is Kind.DATE or column.numeric else ""
            return column, self.with_(sort=first + column.key), ""
        turned = self.with_(sort=column.key if self.descending else f"-{column.key}")
        return column, turned, "descending" if self.descending else "ascending"

    def with_(self, **changes: Any) -> "State":
        """Another state; a change of anything but the page starts on the first page."""
        if not {"after", "before"} & changes.keys():
            changes |= {"after": "", "before": ""}
        return replace(self, **changes)

    @property
    def query(self) -> str:
        """The address's query string, without what is as it always is."""
        pairs: list[tuple[str, str]] = []
        if self.search:
            pairs.append(("q", self.search))
        pairs += [("f", str(condition)) for condition in self.filters]
        if self.sort != NEWEST_FIRST:
            pairs.append(("sort", self.sort))
        if self.columns != DEFAULT:
            pairs.append(("columns", ",".join(column.key for column in self.columns)))
        pairs += [(name, value) for name in ("after", "before") if (value := getattr(self, name))]
        return urlencode(pairs, safe=":,|")

    def address(self, path: str) -> str:
        return f"{path}?{self.query}" if self.query else path


def _with_name(columns: Iterable[Column]) -> tuple[Column, ...]:
    """The name stays: it is the way to the workload."""
    return tuple(c for c in COLUMNS if c in set(columns) or c.key == "name")


def _added(query: QueryDict) -> Filter | None:
    """The filter that the form adds, in three fields."""
    values = [value.strip() for value in query.getlist("fv") if value.strip()]
    if not (query.get("fc") and values):
        return None
    return Filter.parse(f"{query['fc']}:{query.get('fo', '')}:{OR.join(values)}")
