"""The state of the table, all of it in the address: search, filters, order, columns and page."""

from dataclasses import dataclass, field, replace
from typing import Any, Self
from urllib.parse import urlencode

from django.http import QueryDict

from accounts.models import User
from core.web.query import parse_number, search_text
from workloads.models import Workload, WorkloadQuerySet
from workloads.table import filters as filtering
from workloads.table.columns import (
    BY_KEY,
    COLUMNS,
    DEFAULT,
    DEFAULT_DELETED,
    Column,
    ColumnKind,
)
from workloads.table.filters import OR, Filter
from workloads.table.keyset import Key

NEWEST_FIRST = "-created"
MOST_FILTERS = 20
SIZES = (50, 100, 200)  # rows of a page; the first is the default
NAME = BY_KEY["name"]


@dataclass(frozen=True)
class TableState:
    """What the table shows. ``sort`` is a column's key, after ``-`` for descending order. ``after``
    and ``before`` are positions that the page starts after or ends before; only one of them counts.
    ``size`` is the number of rows of a page.
    """

    search: str = ""
    filters: tuple[Filter, ...] = ()
    sort: str = NEWEST_FIRST
    columns: tuple[Column, ...] = field(default=DEFAULT)
    after: str = ""
    before: str = ""
    deleted: bool = False  # whether it shows the deleted workloads instead
    size: int = SIZES[0]

    @classmethod
    def parse(cls, query: QueryDict) -> Self:
        """The state in an address. Invalid parts are replaced by their defaults; an invalid filter
        is kept with its problem."""
        filters = [Filter.parse(text) for text in query.getlist("f")[:MOST_FILTERS] if text]
        if added := _added(query):
            filters.append(added)
        deleted = query.get("deleted") == "1"
        usual = usual_of(deleted)
        sort = query.get("sort", usual.sort)
        column = BY_KEY.get(sort.removeprefix("-"))
        chosen = (key for text in query.getlist("columns") for key in text.split(","))
        columns = tuple(BY_KEY[key] for key in dict.fromkeys(chosen) if key in BY_KEY)
        return cls(
            search=search_text(query),
            filters=tuple(dict.fromkeys(filters)),
            sort=sort if column and column.sorts else usual.sort,
            columns=_with_name(columns) if columns else usual.columns,
            after=query.get("after", ""),
            before=query.get("before", ""),
            deleted=deleted,
            size=size if (size := parse_number(query.get("size", ""))) in SIZES else SIZES[0],
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
        """Whether a workload created now would be at the top of this page."""
        paged = self.after or self.before or self.deleted
        return self.sort == NEWEST_FIRST and not paged

    def rows(self, user: User) -> WorkloadQuerySet:
        """The workloads that the user may see and that match the filters, unordered."""
        there = Workload.objects
        rows = there.deleted_for(user) if self.deleted else there.visible_to(user)
        rows = rows.order_by()
        for condition in self.filters:
            if not condition.problem:
                rows = rows.filter(condition.condition())
        return filtering.search(rows, self.search) if self.search else rows

    @property
    def chips(self) -> list[tuple[Filter, "TableState"]]:
        """Each filter, and the state without it."""
        return [
            (one, self.with_(filters=tuple(f for f in self.filters if f != one)))
            for one in self.filters
        ]

    @property
    def column_choices(self) -> list[tuple[Column, bool]]:
        """Each column and whether it is shown. Those that are come first, in their order."""
        offered = [column for column in COLUMNS if self.deleted or not column.of_deleted]
        others = [(column, False) for column in offered if column not in self.columns]
        return [(column, True) for column in self.columns] + others

    @property
    def with_default_columns(self) -> "TableState":
        return self.with_(columns=usual_of(self.deleted).columns)

    def others(self, *, deleted: bool) -> "TableState":
        """The same search among the deleted workloads or among the others. Everything else is reset
        when that changes."""
        if deleted == self.deleted:
            return self
        return replace(usual_of(deleted), search=self.search)

    @property
    def heads(self) -> list[tuple[Column, "TableState | None", str]]:
        """Each column, the state sorted by it (reversed if it already is), and its current
        direction."""
        return [self._head(column) for column in self.columns]

    def _head(self, column: Column) -> tuple[Column, "TableState | None", str]:
        if not column.sorts:
            return column, None, ""
        if column != self.sorted_by:
            first = "-" if column.kind is ColumnKind.DATE or column.numeric else ""
            return column, self.with_(sort=first + column.key), ""
        turned = self.with_(sort=column.key if self.descending else f"-{column.key}")
        return column, turned, "descending" if self.descending else "ascending"

    def with_(self, **changes: Any) -> "TableState":
        """A copy with changes. Changing anything but the position leads back to the first page."""
        if not {"after", "before"} & changes.keys():
            changes |= {"after": "", "before": ""}
        return replace(self, **changes)

    @property
    def query(self) -> str:
        """The query string of the address, without default values."""
        pairs: list[tuple[str, str]] = []
        usual = usual_of(self.deleted)
        if self.deleted:
            pairs.append(("deleted", "1"))
        if self.search:
            pairs.append(("q", self.search))
        pairs += [("f", str(condition)) for condition in self.filters]
        if self.sort != usual.sort:
            pairs.append(("sort", self.sort))
        if self.columns != usual.columns:
            pairs.append(("columns", ",".join(column.key for column in self.columns)))
        if self.size != usual.size:
            pairs.append(("size", str(self.size)))
        pairs += [(name, value) for name in ("after", "before") if (value := getattr(self, name))]
        return urlencode(pairs, safe=":,|")

    @property
    def sizes(self) -> list[tuple[int, "TableState"]]:
        """Each size that a page can have, and the state with it."""
        return [(size, self.with_(size=size)) for size in SIZES]

    @property
    def matching(self) -> str:
        """The query string of the search and the filters alone, which say what a selection of all
        is."""
        return replace(usual_of(self.deleted), search=self.search, filters=self.filters).query

    @property
    def first(self) -> "TableState":
        """The same table from its first row."""
        return self.with_()

    def address(self, path: str) -> str:
        return f"{path}?{self.query}" if self.query else path


def usual_of(deleted: bool) -> TableState:
    """The default state of the table."""
    if deleted:
        return TableState(sort="-deleted", columns=DEFAULT_DELETED, deleted=True)
    return TableState()


def _with_name(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns with the name among them, which links to the workload."""
    return tuple(columns) if NAME in columns else (NAME, *columns)


def _added(query: QueryDict) -> Filter | None:
    """The filter that the form posts as column, operator and values; ``None`` if it is
    incomplete."""
    values = [value.strip() for value in query.getlist("fv") if value.strip()]
    if not (query.get("fc") and values):
        return None
    return Filter.parse(f"{query['fc']}:{query.get('fo', '')}:{OR.join(values)}")
