"""Catching up with a whole list of what a cluster has, at the price of what changed in it."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from django.db.models import F, Prefetch

from clusters.models import Cluster
from engines.base import Observation
from workloads import reconcile, waiting
from workloads.models import Cause, Workload

AT_ONCE = 500  # rows of one query


def changed(cluster: Cluster, listed: Sequence[Observation]) -> Iterator[Observation]:
    """What of the list says something that the rows do not: a query for many, not one for each."""
    for start in range(0, len(listed), AT_ONCE):
        some = listed[start : start + AT_ONCE]
        rows = _rows(cluster, [seen.workload_id for seen in some])
        for seen in some:
            row = rows.get(seen.workload_id)
            if row is not None and not is_known(row, seen):
                yield seen


def forget_missing(cluster: Cluster, listed: Sequence[Observation]) -> None:
    """What was handed over in this run and is not there any more is lost."""
    rows = Workload.objects.filter(
        cluster=cluster,
        phase__in=reconcile.HANDED_OVER,
        deleted_at=None,
        observed_run=F("run"),
    )
    there = {seen.workload_id for seen in listed}
    missing = [pk for pk in rows.values_list("pk", flat=True) if pk not in there]
    whole = rows.select_related("project", "cluster").standing()
    for start in range(0, len(missing), AT_ONCE):
        for workload in whole.filter(pk__in=missing[start : start + AT_ONCE]):
            reconcile.lost(workload)


def is_known(row: Workload, seen: Observation) -> bool:
    """Whether applying ``seen`` would change nothing that people see."""
    seen = reconcile.forward(row, seen)
    if not (row.run == row.observed_run == seen.run and row.phase == seen.phase):
        return False
    if seen.attempt > row.attempt or row.deleted_at:
        return False
    if seen.message and (seen.reason, seen.message) != (row.reason, row.message):
        return False
    ranks = {rank.rank: rank for rank in row.ranks.all()}
    both = [(ranks[state.rank], state) for state in seen.ranks if state.rank in ranks]
    if any(reconcile.differs(row, reconcile.kept(row, state, seen)) for row, state in both):
        return False
    return waiting.is_known(row.open_causes, seen)  # type: ignore[attr-defined]  # prefetched below


def _rows(cluster: Cluster, ids: Sequence[UUID]) -> dict[UUID, Workload]:
    open_causes = Prefetch("causes", Cause.objects.filter(until=None), to_attr="open_causes")
    found = Workload.objects.filter(cluster=cluster, pk__in=ids).standing()
    return {row.pk: row for row in found.prefetch_related("ranks", open_causes)}
