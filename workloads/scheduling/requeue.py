"""Preempt workloads for the owner of a quota: they wait again, and resume from their checkpoint."""

from typing import Any

from django.db import transaction

from spec.phases import ACTIVE, Phase, RankPhase, Reason
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
    message = " ".join(filter(None, [workload.message, end_message]))
    if _begin_next_run(workload, workload.message, message):
        workload.move(Phase.PENDING, reason=Reason.PREEMPTED, message=workload.message)
        events.record_phase(workload)


def start_over(workload: Workload, message: str) -> bool:
    """Submit the next run of a workload that its cluster's queue took back, and whose job ended
    with that. ``False`` if it was asked to stop, or has ended otherwise."""
    if workload.phase not in ACTIVE or workload.phase == Phase.STOPPING:
        return False
    with transaction.atomic():
        if _begin_next_run(workload, message, message):
            events.record_phase(workload)
            enqueue.submit(workload)
    return True


def _begin_next_run(workload: Workload, why: str, end_message: str) -> bool:
    """End the run of a preempted workload, and move it to the next one. ``False`` if it has ended
    otherwise. ``why`` is its message then, ``end_message`` that of the end."""
    reason: dict[str, Any] = {"reason": Reason.PREEMPTED, "message": why}
    if not workload.move(Phase.STOPPED, **reason, running_pods=0):
        return False
    events.record_phase(workload, message=end_message)
    if not workload.logs_complete:
        Attempt.create_missing(workload)  # its output still has to be collected
    new_run: dict[str, Any] = {"attempt": 0, "logs_complete": False, "handed_over_at": None}
    workload.move(Phase.RESUMING, **reason, run=workload.run + 1, **new_run)
    start_ranks_afresh(workload)
    return True


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
