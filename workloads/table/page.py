"""One page of the table: few queries, each answered by an index."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from accounts.models import User
from workloads.models import Workload, WorkloadQuerySet
from workloads.table import keyset
from workloads.table.columns import Column, shown_metrics
from workloads.table.state import State

PAGE_SIZE = 50
MOST_COUNTED = 1_000
# What a row needs. The spec and the draft are large, so they stay where they are.
FIELDS = (
    *"name phase reason message phase_updated_at framework architecture image".split(),
    *"num_pods running_pods gpus cpu_cores memory_bytes last_metrics".split(),
    *"created_at completed_at pending_seconds running_seconds run attempt".split(),
)


@dataclass(frozen=True)
class Row:
    workload: Workload
    columns: tuple[Column, ...]

    @property
    def id(self) -> str:
        return str(self.workload.pk)

    @property
    def cells(self) -> list[tuple[str, str]]:
        return [column.drawn(self.workload) for column in self.columns]

    @property
    def metrics(self) -> list[tuple[str, str]]:
        return shown_metrics(self.workload)


@dataclass(frozen=True)
class Page:
    rows: list[Row]
    previous: State | None
    following: State | None
    count: int
    more: bool

    @property
    def total(self) -> str:
        """How many there are. Beyond a limit nobody counts: ``1,000+``."""
        return f"{self.count:,}{'+' if self.more else ''}"


def page_of(state: State, user: User) -> Page:
    rows = state.rows(user)
    positions, previous, following = _positions(rows, state)
    count = rows.values("pk")[: MOST_COUNTED + 1].count()
    shown = rows_of([position[-1] for position in positions], state.columns)
    return Page(shown, previous, following, min(count, MOST_COUNTED), count > MOST_COUNTED)


def rows_of(pks: Iterable[UUID], columns: tuple[Column, ...]) -> list[Row]:
    """Rows in the order of their ids. Whether they may be seen was decided before."""
    wanted = list(pks)
    found = for_rows(Workload.objects.all(), columns).in_bulk(wanted)
    return [Row(found[pk], columns) for pk in wanted if pk in found]


def for_rows(rows: WorkloadQuerySet, columns: Iterable[Column]) -> WorkloadQuerySet:
    """With what these columns show, and nothing of others: a row would cost twice as much."""
    others = [column.field for column in columns if "__" in column.field]
    related = {field.rpartition("__")[0] for field in others}
    return (rows.select_related(*related) if related else rows).only(*FIELDS, *others)


def _positions(
    rows: WorkloadQuerySet, state: State
) -> tuple[list[keyset.Position], State | None, State | None]:
    """The page's positions, and the states of the pages beside it."""
    key = state.key
    before = keyset.decode(state.before, key) if state.before else None
    if before is not None:
        found = keyset.ids(rows, key.reversed(), after=before, limit=PAGE_SIZE + 1)
        if len(found) > PAGE_SIZE:
            shown = found[:PAGE_SIZE][::-1]
            return shown, _earlier(state, shown), _later(state, shown)
        # Too few for a page: the first page is a full one.
    after = keyset.decode(state.after, key) if state.after and before is None else None
    found = keyset.ids(rows, key, after=after, limit=PAGE_SIZE + 1)
    shown = found[:PAGE_SIZE]
    previous = _earlier(state, shown) if after is not None and shown else None
    return shown, previous, _later(state, shown) if len(found) > PAGE_SIZE else None


def _earlier(state: State, shown: list[keyset.Position]) -> State:
    return state.with_(before=keyset.encode(shown[0]), after="")


def _later(state: State, shown: list[keyset.Position]) -> State:
    return state.with_(after=keyset.encode(shown[-1]), before="")
