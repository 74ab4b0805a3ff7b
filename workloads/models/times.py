"""The times that a move changes: how long the phase that ends took, the start and the end."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import F, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from spec.phases import (
    ENDED,
    GATHERING,
    RUN_REQUESTED,
    STARTED,
    TERMINAL,
    WAITING,
    Phase,
    counts_as_running,
)
from workloads.models.rank import Rank

if TYPE_CHECKING:
    from workloads.models.workload import Workload

#: Phases in which the ranks of this run have not been seen to run all at once.
BEFORE_ALL_RUN = RUN_REQUESTED | GATHERING


def times_of_move(workload: Workload, origin: Phase, to: Phase, now: datetime) -> dict[str, Any]:
    """Return the columns for the time spent in the phase ``origin``, which ends ``now``, and for
    the start and the end of the workload.

    If a gang ended before it was seen to run, the times of its ranks say when it started, and it
    counts as running from then on.
    """
    changes: dict[str, Any] = {}
    seconds_in_phase = max((now - workload.phase_updated_at).total_seconds(), 0.0)
    gang_start = None
    unseen_seconds = 0.0  # ran although its phase was one of waiting
    if to in ENDED and (origin in BEFORE_ALL_RUN or workload.started_at is None):
        gang_start, have_all_run = _gang_start(workload, now)
        if gang_start and have_all_run and origin in BEFORE_ALL_RUN:
            unseen_seconds = min((now - gang_start).total_seconds(), seconds_in_phase)
    if origin in WAITING:
        pending_seconds = F("pending_seconds") + seconds_in_phase - unseen_seconds
        changes["pending_seconds"] = pending_seconds
        changes |= _first_wait_column(to, workload.run, pending_seconds, workload.ranks.all())
    running_seconds = unseen_seconds
    if counts_as_running(origin, workload.reason):
        running_seconds = seconds_in_phase
    if running_seconds:
        changes["running_seconds"] = F("running_seconds") + running_seconds
    if workload.started_at is None:
        if to is Phase.RUNNING:
            changes["started_at"] = now
        elif gang_start:
            changes["started_at"] = gang_start
    if to in TERMINAL:
        changes["completed_at"] = now
        changes["auto_delete_at"] = now + timedelta(seconds=workload.auto_deletion_seconds)
    return changes


def times_of_new_reason(workload: Workload, reason: str, now: datetime) -> dict[str, Any]:
    """Return the columns for a new reason of the same phase. If it changes whether the phase counts
    as running, the time of the phase starts again."""
    phase = Phase(workload.phase)
    counted_before = counts_as_running(workload.phase, workload.reason)
    if counted_before == counts_as_running(phase, reason):
        return {}
    changes: dict[str, Any] = {"phase_updated_at": now}
    if counted_before:
        seconds = max((now - workload.phase_updated_at).total_seconds(), 0.0)
        changes["running_seconds"] = F("running_seconds") + seconds
    return changes


def _gang_start(workload: Workload, now: datetime) -> tuple[datetime | None, bool]:
    """Return when the gang started according to its ranks, and whether all of them ran. If so, it
    started with the last of them, else with the first."""
    starts = list(workload.ranks.values_list("started_at", flat=True))
    known_starts = [start for start in starts if start]
    if not known_starts:
        return None, False
    have_all_run = len(known_starts) == len(starts)
    start = max(known_starts) if have_all_run else min(known_starts)
    # The cluster's clock may be slow, and its times are in whole seconds.
    return min(max(start, workload.created_at), now), have_all_run


def _first_wait_column(
    to: Phase, run: int, waited: Combinable, ranks: QuerySet[Rank]
) -> dict[str, Any]:
    """Return the column ``first_wait_seconds`` if this move is the first start, else nothing.

    A gang whose master is done may complete although other ranks never had a node: that is not a
    start.
    """
    is_start = to in STARTED or (to is Phase.COMPLETED and not _some_had_no_node(ranks))
    if run > 1 or not is_start:
        return {}
    return {"first_wait_seconds": Coalesce("first_wait_seconds", waited)}


def _some_had_no_node(ranks: QuerySet[Rank]) -> bool:
    """Whether some ranks had a node and others had none. If no rank has one, the workload was too
    short to be observed."""
    nodes = set(ranks.values_list("node", flat=True))
    return "" in nodes and len(nodes) > 1
