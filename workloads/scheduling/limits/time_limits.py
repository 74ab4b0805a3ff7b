"""Ending what has run for as long as its spec allows, whatever runs it.

All the time counts that a workload was running, in all its runs: waiting costs nothing. An engine
that holds the limit itself is a little earlier, and tells the same end.
"""

from django.db import transaction

from spec.phases import Phase, Reason
from spec.problems import time_limit
from workloads import enqueue
from workloads.history import causes, events
from workloads.models import Workload
from workloads.scheduling.limits.limited import limited


def enforce() -> None:
    """Ask everything to end that is over its limit."""
    columns = ("phase", "phase_updated_at", "running_seconds")
    for workload, seconds in limited("time_limit_seconds", *columns):
        if workload.running_total >= seconds:
            end(Workload.objects.get(pk=workload.pk))


def end(workload: Workload) -> bool:
    """Ask every rank to end. ``False`` when it ended, or was asked to, meanwhile."""
    why = time_limit.reached(workload.spec_json["timeLimitSeconds"])
    with transaction.atomic():
        if not workload.move(Phase.STOPPING, reason=Reason.DEADLINE_EXCEEDED, message=why):
            return False
        events.phase(workload)
        enqueue.stop(workload.pk)
    return True


def ended(workload: Workload, said: str = "") -> bool:
    """What was over its limit has ended, and failed by that; ``False`` for anything else. ``said``
    is what its cluster says of the end."""
    if workload.phase != Phase.STOPPING or workload.reason != Reason.DEADLINE_EXCEEDED:
        return False
    message = " ".join(filter(None, [workload.message, said]))
    with transaction.atomic():
        causes.end(workload)
        reason = Reason.DEADLINE_EXCEEDED
        if workload.move(Phase.FAILED, reason=reason, message=message, running_pods=0):
            events.phase(workload)
        enqueue.admit(workload.cluster_id)
    return True
