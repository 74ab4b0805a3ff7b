"""One page of the table, read with few queries that indexes can answer."""

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
from workloads.table.columns import BY_KEY, Column, shown_metrics
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
    """Everything that a row shows and nothing else. Equal rows look alike, so one that many people
    watch is rendered once for all of them."""

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
    def of(cls, workload: Workload, columns: Iterable[Column], user: User) -> "Row":
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
            kept_until=workload.kept_until,
            metrics=tuple(shown_metrics(workload)),
            loss=tuple((step, value) for step, value in workload.curves.get("loss", ())),
            is_own=workload.created_by_id == user.pk,
            is_settled=workload.is_settled,
            texts=tuple((one.key, "" if one.cell else one.text(workload)) for one in columns),
        )

    @property
    def cells(self) -> list[tuple[str, str]]:
        return [BY_KEY[key].drawn(text) for key, text in self.texts]

    @property
    def failure(self) -> FailureClass | None:
        return BY_ID.get(self.failure_class)

    @property
    def markup(self) -> SafeString:
        return drawn(self)


@lru_cache(4000)  # some 2 KB each
def drawn(row: Row) -> SafeString:
    """The row as HTML. Cached, because many people look at equal rows."""
    return render_to_string("workloads/_row.html", {"row": row})


@dataclass(frozen=True)
class Page:
    """A page of the table. ``previous`` and ``following`` are the states of the neighboring pages,
    if any. ``count`` is limited; ``more`` says that there are more workloads than that."""

    rows: list[Row]
    previous: TableState | None
    following: TableState | None
    count: int
    more: bool

    @property
    def if_deleted(self) -> str:
        return retention_sentence("Their")

    @property
    def has_others(self) -> bool:
        """Whether there are further pages, or would be with the smallest ones."""
        return bool(self.previous or self.following or len(self.rows) > SIZES[0])

    @property
    def most(self) -> str:
        return f"{MOST_COUNTED:,}"

    @property
    def most_picked(self) -> int:
        return MOST_AT_ONCE

    @property
    def total(self) -> str:
        """Number of workloads, counted up to a limit: ``1,000+``."""
        return f"{self.count:,}{'+' if self.more else ''}"


def page_of(state: TableState, user: User) -> Page:
    """The page that a state describes, for a user."""
    rows = state.rows(user)
    positions, previous, following = _positions(rows, state)
    count = rows.values("pk")[: MOST_COUNTED + 1].count()
    shown = rows_of([position[-1] for position in positions], state.columns, user)
    return Page(shown, previous, following, min(count, MOST_COUNTED), count > MOST_COUNTED)


def rows_of(pks: Iterable[UUID], columns: tuple[Column, ...], user: User) -> list[Row]:
    """Rows in the order of ``pks``. The caller has checked that the user may see them."""
    wanted = list(pks)
    workloads = for_rows(Workload.objects.all(), columns).in_bulk(wanted)
    return [Row.of(workloads[pk], columns, user) for pk in wanted if pk in workloads]


def present_rows(
    pks: Iterable[UUID], columns: tuple[Column, ...], user: User, *, deleted: bool
) -> list[Row]:
    """Those of these workloads that the user may see, in no particular order."""
    present = Workload.objects.filter(
        reach_filter(user), pk__in=pks, deleted_at__isnull=not deleted
    )
    return [Row.of(workload, columns, user) for workload in for_rows(present, columns).order_by()]


def rows_among(workloads: WorkloadQuerySet, columns: tuple[Column, ...], user: User) -> list[Row]:
    """Rows of a few workloads in the query's order, read with one query."""
    return [Row.of(workload, columns, user) for workload in for_rows(workloads, columns)]


def for_rows(rows: WorkloadQuerySet, columns: Iterable[Column]) -> WorkloadQuerySet:
    """Restrict the query to the fields of these columns. Reading all would take twice as long per
    row."""
    others = [column.field for column in columns if "__" in column.field]
    related = {field.rpartition("__")[0] for field in others}
    return (rows.select_related(*related) if related else rows).only(*FIELDS, *others)


def _positions(
    rows: WorkloadQuerySet, state: TableState
) -> tuple[list[keyset.Position], TableState | None, TableState | None]:
    """The positions on the page, and the states of the previous and the next page, if there are
    any."""
    key = state.key
    before = keyset.decode(state.before, key) if state.before else None
    if before is not None:
        positions = keyset.ids(rows, key.reversed(), after=before, limit=state.size + 1)
        if len(positions) > state.size:
            shown = positions[: state.size][::-1]
            return shown, _earlier(state, shown), _later(state, shown)
        # Fewer rows than a page precede it, so the first page is shown instead, filled up.
    after = keyset.decode(state.after, key) if state.after and before is None else None
    positions = keyset.ids(rows, key, after=after, limit=state.size + 1)
    shown = positions[: state.size]
    previous = _earlier(state, shown) if after is not None and shown else None
    return shown, previous, _later(state, shown) if len(positions) > state.size else None


def _earlier(state: TableState, shown: list[keyset.Position]) -> TableState:
    return state.with_(before=keyset.encode(shown[0]), after="")


def _later(state: TableState, shown: list[keyset.Position]) -> TableState:
    return state.with_(after=keyset.encode(shown[-1]), before="")
