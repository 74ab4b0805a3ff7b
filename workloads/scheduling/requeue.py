"""Preempt workloads for the owner of a quota: they wait again, and resume from their checkpoint."""

from typing import Any

from django.db import transaction

from spec.phases import Phase, RankPhase, Reason
from spec.problems.errors import SpecError
from workloads import enqueue
from workloads.history import causes, events
from workloads.models import Attempt, Workload
from workloads.scheduling.limits import stopping


def preempt(workload: Workload, why: str) -> bool:
    """Ask every rank to end. ``False`` if it ended, or was asked to, meanwhile."""
    return stopping.request_stop(workload, reason=Reason.PREEMPTED, why=why)


def requeue_if_preempted(workload: Workload, end_message: str = "") -> bool:
    """Queue the next run of a preempted workload that has ended; ``False`` for anything else.

    It keeps its age in the queue and its checkpoints. One that does not want to start again fails.
    ``said`` is what its cluster says about the end.
    """
    if not stopping.is_stopping_for(workload, Reason.PREEMPTED):
        return False
    with transaction.atomic():
        causes.end_cause(workload)
        _fail(workload) if _ends_when_preempted(workload) else _requeue(workload, end_message)
        enqueue.admit(workload.cluster_id)
    return True


def _fail(workload: Workload) -> None:
    text = f"{workload.message} It is not started again, because that is what its spec says."
    if workload.move(Phase.FAILED, reason=Reason.PREEMPTED, message=text, running_pods=0):
        events.record_phase(workload)


def _requeue(workload: Workload, end_message: str) -> None:
    why: dict[str, Any] = {"reason": Reason.PREEMPTED, "message": workload.message}
    if not workload.move(Phase.STOPPED, **why, running_pods=0):
        return
    events.record_phase(workload, message=" ".join(filter(None, [workload.message, end_message])))
    if not workload.logs_complete:
        Attempt.create_missing(workload)  # its output still has to be collected
    new_run: dict[str, Any] = {"attempt": 0, "logs_complete": False, "handed_over_at": None}
    workload.move(Phase.RESUMING, **why, run=workload.run + 1, **new_run)
    start_ranks_afresh(workload)
    workload.move(Phase.PENDING, **why)
    events.record_phase(workload)


def start_ranks_afresh(workload: Workload) -> None:
    workload.ranks.update(
        phase=RankPhase.PENDING,
        reason="",
        message="",
        exit_code=None,
        restarts=0,
        started_at=None,
        finished_at=None,
        gpu_devices=[],
    )


def _ends_when_preempted(workload: Workload) -> bool:
    try:
        return workload.spec.terminate_after_preemption
    except SpecError:
        return False
