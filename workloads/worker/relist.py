"""Compare a full list of a cluster's workloads with the rows, at the cost of what changed."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db.models import F, Prefetch

from clusters.models import Cluster
from engines.base import Observation
from engines.shared.observations import is_same_state
from spec.phases import HANDED_OVER, ON_KEEPING_CLUSTER, Phase
from workloads import reconcile
from workloads.history import causes, last_seen
from workloads.history.phase_order import keep_phase_forward
from workloads.models import CausePeriod, Workload
from workloads.worker import drift

AT_ONCE = 500  # rows of one query
#: Columns of which at least one changes whenever a row, its ranks or its causes change.
SIGNS = (
    *("phase", "reason", "message", "run", "attempt"),
    *("observed_run", "observed_sequence", "num_pods", "deleted_at"),
)
#: An observation that agreed with its row, and the row's ``SIGNS`` at that time.
Agreed = dict[UUID, tuple[Observation, tuple[Any, ...]]]
row_signs = attrgetter(*SIGNS)


def changed_observations(
    cluster: Cluster, listed: Sequence[Observation], agreed: Agreed | None = None
) -> Iterator[Observation]:
    """Yield observations that differ from their rows, with one query for many. ``agreed`` remembers
    those that did not: while both sides are unchanged they are not compared again."""
    before = agreed or {}
    now = Agreed()
    for start in range(0, len(listed), AT_ONCE):
        some = listed[start : start + AT_ONCE]
        agreeing = _still_agreed(cluster, some, before)
        now |= agreeing
        others = [it for it in some if it.workload_id not in agreeing]
        rows = _rows(cluster, [observation.workload_id for observation in others])
        for observation in others:
            row = rows.get(observation.workload_id)
            if row is None:
                continue
            if not is_known(row, observation):
                yield observation
            elif not reconcile.is_past(row, observation):
                now[row.pk] = observation, row_signs(row)
    if agreed is not None:
        agreed.clear()
        agreed |= now


def _still_agreed(cluster: Cluster, some: Sequence[Observation], before: Agreed) -> Agreed:
    unchanged = {
        it.workload_id: before[it.workload_id]
        for it in some
        if it.workload_id in before and is_same_state(it, before[it.workload_id][0])
    }
    if not unchanged:
        return {}
    rows = Workload.objects.filter(cluster=cluster, pk__in=unchanged).order_by()
    signs = {pk: tuple(values) for pk, *values in rows.values_list("pk", *SIGNS)}
    return {pk: pair for pk, pair in unchanged.items() if signs.get(pk) == pair[1]}


def forget_missing(cluster: Cluster, listed: Sequence[Observation]) -> None:
    """Mark workloads as lost that are missing from the list. A stopped one stays stopped, and says
    that its job is gone."""
    phases = ON_KEEPING_CLUSTER if cluster.definition.keeps_stopped_workloads else HANDED_OVER
    rows = Workload.objects.filter(
        cluster=cluster,
        phase__in=phases,
        deleted_at=None,
        observed_run=F("run"),
    ).exclude(phase=Phase.STOPPED, message__endswith=drift.RUNS_ANEW)
    listed_ids = {observation.workload_id for observation in listed}
    missing = [pk for pk in rows.values_list("pk", flat=True) if pk not in listed_ids]
    full_rows = rows.select_related("project", "cluster").with_state_columns()
    for start in range(0, len(missing), AT_ONCE):
        for workload in full_rows.filter(pk__in=missing[start : start + AT_ONCE]):
            if workload.phase == Phase.STOPPED:
                drift.record_gone(workload, workload.run)
            else:
                reconcile.end_lost(workload)


def is_known(row: Workload, observation: Observation) -> bool:
    """Whether applying the observation would change nothing that people see."""
    observation = keep_phase_forward(row, observation)
    observation = last_seen.with_last_failure(row.ranks.all(), observation)
    if not (row.run == row.observed_run == observation.run and row.phase == observation.phase):
        return False
    if observation.attempt > row.attempt or row.deleted_at or drift.is_resized(row, observation):
        return False
    if observation.message and (observation.reason, observation.message) != (
        row.reason,
        row.message,
    ):
        return False
    ranks = {rank.rank: rank for rank in row.ranks.all()}
    if observation.has_own_ranks and any(state.rank not in ranks for state in observation.ranks):
        return False
    both = [(ranks[state.rank], state) for state in observation.ranks if state.rank in ranks]
    if any(
        last_seen.rank_differs(row, last_seen.rank_state_to_store(row, state, observation))
        for row, state in both
    ):
        return False
    return causes.is_known(row.open_causes, observation)  # type: ignore[attr-defined]  # prefetched below


def _rows(cluster: Cluster, ids: Sequence[UUID]) -> dict[UUID, Workload]:
    open_causes = Prefetch("causes", CausePeriod.objects.filter(until=None), to_attr="open_causes")
    rows = Workload.objects.filter(cluster=cluster, pk__in=ids).with_state_columns()
    return {row.pk: row for row in rows.prefetch_related("ranks", open_causes)}
