"""The times that a move changes: how long the phase that ends took, the start and the end."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import F, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from spec.phases import (
    ASKED_TO_RUN,
    ENDED,
    GATHERING,
    STARTED,
    TERMINAL,
    WAITING,
    Phase,
    counts_as_running,
)
from workloads.models.rank import Rank

if TYPE_CHECKING:
    from workloads.models.workload import Workload

#: Nobody has seen the gang of this run whole yet.
BEFORE_ALL_RUN = ASKED_TO_RUN | GATHERING


def times_of_move(workload: Workload, origin: Phase, to: Phase, now: datetime) -> dict[str, Any]:
    """Columns for the time spent in ``origin``, which ends ``now``, and for the start and the end.

    A gang that was over before anyone saw it run started when its ranks say so, and ran since.
    """
    changes: dict[str, Any] = {}
    spent = max((now - workload.phase_updated_at).total_seconds(), 0.0)
    began = None
    ran = 0.0
    if to in ENDED and (origin in BEFORE_ALL_RUN or workload.started_at is None):
        began, whole = _gang_start(workload, now)
        if began and whole and origin in BEFORE_ALL_RUN:
            ran = min((now - began).total_seconds(), spent)
    if origin in WAITING:
        changes["pending_seconds"] = waited = F("pending_seconds") + spent - ran
        changes |= _first_wait_column(to, workload.run, waited, workload.ranks.all())
    if at_work := spent if counts_as_running(origin, workload.reason) else ran:
        changes["running_seconds"] = F("running_seconds") + at_work
    if workload.started_at is None and (to is Phase.RUNNING or began):
        changes["started_at"] = now if to is Phase.RUNNING else began
    if to in TERMINAL:
        changes["completed_at"] = now
        lives = timedelta(seconds=workload.auto_deletion_seconds)
        changes["auto_delete_at"] = now + lives
    return changes


def times_of_new_reason(workload: Workload, reason: str, now: datetime) -> dict[str, Any]:
    """Columns where the reason of a phase changes: the phase counts anew where that starts or ends
    its counting as running."""
    phase = Phase(workload.phase)
    counted = counts_as_running(workload.phase, workload.reason)
    if counted == counts_as_running(phase, reason):
        return {}
    spent = max((now - workload.phase_updated_at).total_seconds(), 0.0)
    ran = {"running_seconds": F("running_seconds") + spent} if counted else {}
    return {"phase_updated_at": now, **ran}


def _gang_start(workload: Workload, now: datetime) -> tuple[datetime | None, bool]:
    """When the gang began by its ranks' own times, and whether all of them ran: with the last of
    them if so, else with the first. Clocks of a cluster may be late, and tell whole seconds."""
    starts = list(workload.ranks.values_list("started_at", flat=True))
    begun = [at for at in starts if at]
    if not begun:
        return None, False
    whole = len(begun) == len(starts)
    began = max(begun) if whole else min(begun)
    return min(max(began, workload.created_at), now), whole


def _first_wait_column(
    to: Phase, run: int, waited: Combinable, ranks: QuerySet[Rank]
) -> dict[str, Any]:
    """The update of ``first_wait_seconds``, if this move is the first start; else nothing.

    A gang whose master is done may complete although other ranks never had a place: that is no
    start.
    """
    is_start = to in STARTED or (to is Phase.COMPLETED and not _some_had_no_node(ranks))
    if run > 1 or not is_start:
        return {}
    return {"first_wait_seconds": Coalesce("first_wait_seconds", waited)}


def _some_had_no_node(ranks: QuerySet[Rank]) -> bool:
    """Whether some ranks had a node and some had not. If no rank has one, it was too short to be
    observed."""
    nodes = set(ranks.values_list("node", flat=True))
    return "" in nodes and len(nodes) > 1
