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
    """What the table shows.

    ``sort`` is a column's key, with ``-`` in front for descending order. The page starts after the
    position ``after`` or ends before the position ``before``; only one of them counts. ``size`` is
    the number of rows of a page.
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
        """Parse the state in an address. Invalid parts get their default values; an invalid filter
        stays, with its problem."""
        filters = [Filter.parse(text) for text in query.getlist("f")[:MOST_FILTERS] if text]
        if added := _parse_added_filter(query):
            filters.append(added)
        deleted = query.get("deleted") == "1"
        default = default_state(deleted)
        sort = query.get("sort", default.sort)
        column = BY_KEY.get(sort.removeprefix("-"))
        keys = ",".join(query.getlist("columns")).split(",")
        columns = tuple(BY_KEY[key] for key in dict.fromkeys(keys) if key in BY_KEY)
        size = parse_number(query.get("size", ""))
        return cls(
            search=search_text(query),
            filters=tuple(dict.fromkeys(filters)),
            sort=sort if column and column.can_sort_by else default.sort,
            columns=_include_name(columns) if columns else default.columns,
            after=query.get("after", ""),
            before=query.get("before", ""),
            deleted=deleted,
            size=size if size in SIZES else SIZES[0],
        )

    @property
    def is_descending(self) -> bool:
        return self.sort.startswith("-")

    @property
    def sort_column(self) -> Column:
        return BY_KEY[self.sort.removeprefix("-")]

    @property
    def key(self) -> Key:
        return Key.for_field(self.sort_column.field, descending=self.is_descending)

    @property
    def is_filtered(self) -> bool:
        return bool(self.search or self.filters)

    @property
    def shows_newest(self) -> bool:
        """Whether a workload created now would be at the top of this page."""
        is_first_page = not self.after and not self.before
        return self.sort == NEWEST_FIRST and is_first_page and not self.deleted

    def workloads(self, user: User) -> WorkloadQuerySet:
        """Return the workloads that the user may see and that match the filters, unordered."""
        if self.deleted:
            rows = Workload.objects.deleted_for(user)
        else:
            rows = Workload.objects.visible_to(user)
        rows = rows.order_by()
        for condition in self.filters:
            if not condition.problem:
                rows = rows.filter(condition.condition())
        return filtering.search(rows, self.search) if self.search else rows

    @property
    def chips(self) -> list[tuple[Filter, "TableState"]]:
        """Each filter, and the state without it."""
        return [(condition, self._without(condition)) for condition in self.filters]

    def _without(self, condition: Filter) -> "TableState":
        return self.with_changes(filters=tuple(it for it in self.filters if it != condition))

    @property
    def column_choices(self) -> list[tuple[Column, bool]]:
        """Each column, and whether the table shows it. The columns of the table come first, in
        their order."""
        offered = [column for column in COLUMNS if self.deleted or not column.only_deleted]
        others = [(column, False) for column in offered if column not in self.columns]
        return [(column, True) for column in self.columns] + others

    @property
    def with_default_columns(self) -> "TableState":
        return self.with_changes(columns=default_state(self.deleted).columns)

    def switch_to(self, *, deleted: bool) -> "TableState":
        """Return the state that shows the deleted workloads, or the others. If this state shows
        the other group, only the search stays."""
        if deleted == self.deleted:
            return self
        return replace(default_state(deleted), search=self.search)

    @property
    def headings(self) -> list[tuple[Column, "TableState | None", str]]:
        """Each column, the state sorted by it, and the direction in which it is sorted now. For the
        column that the table is sorted by, the state has the opposite direction."""
        return [self._heading(column) for column in self.columns]

    def _heading(self, column: Column) -> tuple[Column, "TableState | None", str]:
        if not column.can_sort_by:
            return column, None, ""
        if column != self.sort_column:
            sign = "-" if column.kind is ColumnKind.DATE or column.is_numeric else ""
            return column, self.with_changes(sort=sign + column.key), ""
        if self.is_descending:
            return column, self.with_changes(sort=column.key), "descending"
        return column, self.with_changes(sort=f"-{column.key}"), "ascending"

    def with_changes(self, **changes: Any) -> "TableState":
        """Return a copy with changes. Without a new position, it is at the first page."""
        if not {"after", "before"} & changes.keys():
            changes |= {"after": "", "before": ""}
        return replace(self, **changes)

    @property
    def query(self) -> str:
        """The query string of the address, without default values."""
        pairs: list[tuple[str, str]] = []
        default = default_state(self.deleted)
        if self.deleted:
            pairs.append(("deleted", "1"))
        if self.search:
            pairs.append(("q", self.search))
        pairs += [("f", str(condition)) for condition in self.filters]
        if self.sort != default.sort:
            pairs.append(("sort", self.sort))
        if self.columns != default.columns:
            pairs.append(("columns", ",".join(column.key for column in self.columns)))
        if self.size != default.size:
            pairs.append(("size", str(self.size)))
        if self.after:
            pairs.append(("after", self.after))
        if self.before:
            pairs.append(("before", self.before))
        return urlencode(pairs, safe=":,|")

    @property
    def sizes(self) -> list[tuple[int, "TableState"]]:
        """Each size that a page can have, and the state with it."""
        return [(size, self.with_changes(size=size)) for size in SIZES]

    @property
    def matching_query(self) -> str:
        """The query string of the search and the filters alone, which define what "select all"
        selects."""
        return replace(default_state(self.deleted), search=self.search, filters=self.filters).query

    @property
    def first_page(self) -> "TableState":
        """The same table from its first row."""
        return self.with_changes()

    def address(self, path: str) -> str:
        return f"{path}?{self.query}" if self.query else path


def default_state(deleted: bool) -> TableState:
    """Return the default state of the table."""
    if deleted:
        return TableState(sort="-deleted", columns=DEFAULT_DELETED, deleted=True)
    return TableState()


def _include_name(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return the columns, with the name in front if it is missing: only the name links to the
    workload."""
    return tuple(columns) if NAME in columns else (NAME, *columns)


def _parse_added_filter(query: QueryDict) -> Filter | None:
    """Parse the filter that the form sends as column, operator and values. Returns ``None`` if the
    filter is incomplete."""
    values = [value.strip() for value in query.getlist("fv") if value.strip()]
    if not (query.get("fc") and values):
        return None
    return Filter.parse(f"{query['fc']}:{query.get('fo', '')}:{OR.join(values)}")
