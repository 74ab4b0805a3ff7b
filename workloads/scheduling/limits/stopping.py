"""Stops that Trainyard itself asks for: for another workload, at a limit, or when idle."""

from django.db import transaction

from spec.phases import Phase, Reason
from workloads import enqueue
from workloads.history import causes, events
from workloads.models import Workload


def request_stop(workload: Workload, *, reason: Reason, why: str) -> bool:
    """Ask every rank to end. ``False`` if the workload ended, or was asked to, meanwhile.

    ``reason`` stays on the row until the ranks have ended, and says then what that means.
    """
    with transaction.atomic():
        if not workload.move(Phase.STOPPING, reason=reason, message=why):
            return False
        events.record_phase(workload)
        enqueue.stop(workload.pk)
    return True


def is_stopping_for(workload: Workload, reason: Reason) -> bool:
    """Whether the workload is stopping for this reason."""
    return workload.phase == Phase.STOPPING and workload.reason == reason


def finish_stop(workload: Workload, phase: Phase, *, reason: Reason, end_message: str) -> bool:
    """Move a workload whose ranks have ended on from :func:`ask`. ``False`` if it was not asked to
    stop for this ``reason``. ``said`` is what its cluster says about the end."""
    if not is_stopping_for(workload, reason):
        return False
    message = " ".join(filter(None, [workload.message, end_message]))
    with transaction.atomic():
        causes.end_cause(workload)
        if workload.move(phase, reason=reason, message=message, running_pods=0):
            events.record_phase(workload)
        enqueue.admit(workload.cluster_id)
    return True
