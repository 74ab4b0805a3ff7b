"""Read one page of the table with few queries, all of which indexes can answer."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from accounts.models import User
from workloads.diagnosis import BY_ID, FailureClass
from workloads.models import Workload, WorkloadQuerySet
from workloads.models.queries import reach_filter
from workloads.models.retention import retention_sentence
from workloads.services import MOST_AT_ONCE
from workloads.table import keyset
from workloads.table.columns import BY_KEY, Column, format_metrics
from workloads.table.state import SIZES, TableState

MOST_COUNTED = 1_000
# The fields of a row. The spec and the draft are large, so they are not read.
FIELDS = (
    *"name phase reason message phase_updated_at kind framework architecture image".split(),
    *"created_by num_pods running_pods gpus cpu_cores memory_bytes last_metrics curves".split(),
    *"created_at completed_at pending_seconds running_seconds run attempt logs_complete".split(),
    "failure_class",
    "deleted_at",
)


@dataclass(frozen=True)
class Row:
    """Everything that a row shows, and nothing else. Equal rows look alike, so that a row which
    many people watch is rendered once."""

    id: UUID
    name: str
    address: str
    phase: str
    reason: str
    message: str
    failure_class: str
    image: str
    created_at: datetime
    completed_at: datetime | None
    deleted_at: datetime | None
    kept_until: datetime | None
    metrics: tuple[tuple[str, str], ...]
    loss: tuple[tuple[float, float], ...]  # pairs of step and value
    is_own: bool
    is_settled: bool
    texts: tuple[tuple[str, str], ...]  # pairs of column key and text, in the order of the columns

    @classmethod
    def from_workload(cls, workload: Workload, columns: Iterable[Column], user: User) -> "Row":
        return cls(
            id=workload.pk,
            name=workload.name,
            address=workload.get_absolute_url(),
            phase=workload.phase,
            reason=workload.reason,
            message=workload.message,
            failure_class=workload.failure_class,
            image=workload.image,
            created_at=workload.created_at,
            completed_at=workload.completed_at,
            deleted_at=workload.deleted_at,
            kept_until=workload.removal_time,
            metrics=tuple(format_metrics(workload)),
            loss=tuple((step, value) for step, value in workload.curves.get("loss", ())),
            is_own=workload.created_by_id == user.pk,
            is_settled=workload.is_settled,
            texts=tuple(_key_and_text(column, workload) for column in columns),
        )

    @property
    def cells(self) -> list[tuple[str, str]]:
        return [BY_KEY[key].render_cell(text) for key, text in self.texts]

    @property
    def failure(self) -> FailureClass | None:
        return BY_ID.get(self.failure_class)

    @property
    def markup(self) -> SafeString:
        return render_row(self)


def _key_and_text(column: Column, workload: Workload) -> tuple[str, str]:
    """Return the column's key and text. The row's template renders richer cells without a text."""
    return column.key, "" if column.cell else column.text(workload)


@lru_cache(4000)  # some 2 KB each
def render_row(row: Row) -> SafeString:
    """Return the row as HTML. The result is cached, because many people look at equal rows."""
    return render_to_string("workloads/_row.html", {"row": row})


@dataclass(frozen=True)
class Page:
    """A page of the table. ``previous`` and ``following`` are the states of the neighboring pages,
    if any. Workloads are counted up to a limit; ``has_more`` says that there are more than
    ``count``."""

    rows: list[Row]
    previous: TableState | None
    following: TableState | None
    count: int
    has_more: bool

    @property
    def if_deleted(self) -> str:
        return retention_sentence("Their")

    @property
    def has_other_pages(self) -> bool:
        """Whether there are further pages, or would be with the smallest page size."""
        return bool(self.previous or self.following or len(self.rows) > SIZES[0])

    @property
    def count_limit(self) -> str:
        return f"{MOST_COUNTED:,}"

    @property
    def selection_limit(self) -> int:
        return MOST_AT_ONCE

    @property
    def total(self) -> str:
        """The number of workloads, counted up to a limit: ``1,000+``."""
        return f"{self.count:,}{'+' if self.has_more else ''}"


def read_page(state: TableState, user: User) -> Page:
    """Read the page that ``state`` describes, with the workloads that the user may see."""
    rows = state.workloads(user)
    positions, previous, following = _page_positions(rows, state)
    count = rows.values("pk")[: MOST_COUNTED + 1].count()
    page_rows = read_rows([position[-1] for position in positions], state.columns, user)
    return Page(
        page_rows,
        previous,
        following,
        count=min(count, MOST_COUNTED),
        has_more=count > MOST_COUNTED,
    )


def read_rows(pks: Iterable[UUID], columns: tuple[Column, ...], user: User) -> list[Row]:
    """Read rows in the order of ``pks``. The caller has checked that the user may see them."""
    ids = list(pks)
    workloads = select_row_fields(Workload.objects.all(), columns).in_bulk(ids)
    return [Row.from_workload(workloads[pk], columns, user) for pk in ids if pk in workloads]


def read_visible_rows(
    pks: Iterable[UUID], columns: tuple[Column, ...], user: User, *, deleted: bool
) -> list[Row]:
    """Read the rows of those workloads in ``pks`` that the user may see, in no particular order."""
    visible = Workload.objects.filter(
        reach_filter(user), pk__in=pks, deleted_at__isnull=not deleted
    )
    return [
        Row.from_workload(workload, columns, user)
        for workload in select_row_fields(visible, columns).order_by()
    ]


def rows_from_query(
    workloads: WorkloadQuerySet, columns: tuple[Column, ...], user: User
) -> list[Row]:
    """Read the rows of a few workloads in the query's order, with one query."""
    return [
        Row.from_workload(workload, columns, user)
        for workload in select_row_fields(workloads, columns)
    ]


def select_row_fields(rows: WorkloadQuerySet, columns: Iterable[Column]) -> WorkloadQuerySet:
    """Restrict the query to the fields of these columns. Reading all fields would take twice as
    long per row."""
    related_fields = [column.field for column in columns if "__" in column.field]
    relations = {field.rpartition("__")[0] for field in related_fields}
    if relations:
        rows = rows.select_related(*relations)
    return rows.only(*FIELDS, *related_fields)


def _page_positions(
    rows: WorkloadQuerySet, state: TableState
) -> tuple[list[keyset.Position], TableState | None, TableState | None]:
    """Return the positions on the page, and the states of the previous and the next page, if there
    are any."""
    key = state.key
    before = keyset.decode(state.before, key) if state.before else None
    if before is not None:
        positions = keyset.read_positions(rows, key.reversed(), after=before, limit=state.size + 1)
        if len(positions) > state.size:
            on_page = positions[: state.size][::-1]
            return on_page, _previous_state(state, on_page), _next_state(state, on_page)
        # Fewer rows than a page precede the position, so the first page is read instead.
    after = keyset.decode(state.after, key) if state.after and before is None else None
    # The row beyond the page tells whether there is a next page.
    positions = keyset.read_positions(rows, key, after=after, limit=state.size + 1)
    on_page = positions[: state.size]
    previous = _previous_state(state, on_page) if after is not None and on_page else None
    following = _next_state(state, on_page) if len(positions) > state.size else None
    return on_page, previous, following


def _previous_state(state: TableState, on_page: list[keyset.Position]) -> TableState:
    return state.with_changes(before=keyset.encode(on_page[0]), after="")


def _next_state(state: TableState, on_page: list[keyset.Position]) -> TableState:
    return state.with_changes(after=keyset.encode(on_page[-1]), before="")
