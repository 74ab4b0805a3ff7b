"""Stopping workspaces that nobody used for as long as their spec allows.

Use is what ranks take of their machines, by the samples that the collector keeps. Where these do
not cover the time, nobody knows, and nothing is stopped.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from spec.phases import Phase, Reason
from spec.problems import time_limit
from workloads import enqueue
from workloads.history import causes, events
from workloads.models import SampleKind, Workload
from workloads.scheduling.limits.limited import limited

CORES = 0.05  # a notebook server without work takes a tenth of it
GPU_PERCENT = 1.0
GAP = timedelta(minutes=2)  # between samples, at most, or the time is not covered


def enforce() -> None:
    """Ask every workspace to end that was idle for its limit."""
    now = timezone.now()
    columns = ("phase", "phase_updated_at", "run")
    for workload, seconds in limited("idle_limit_seconds", *columns):
        since = now - timedelta(seconds=seconds)
        if workload.phase_updated_at <= since and _idle(workload, since, now):
            end(Workload.objects.get(pk=workload.pk))


def _idle(workload: Workload, since: datetime, now: datetime) -> bool:
    samples = workload.samples.filter(kind=SampleKind.USAGE, run=workload.run, at__gte=since)
    last = since
    for at, values in samples.order_by("at").values_list("at", "values"):
        if at - last > GAP or values.get("cpu") is None:
            return False
        if values["cpu"] > CORES or values.get("gpu", 0) > GPU_PERCENT:
            return False
        last = at
    return now - last <= GAP


def end(workload: Workload) -> bool:
    """Ask every rank to end. ``False`` when it ended, or was asked to, meanwhile."""
    why = time_limit.was_idle(workload.spec_json["idleLimitSeconds"])
    with transaction.atomic():
        if not workload.move(Phase.STOPPING, reason=Reason.IDLE, message=why):
            return False
        events.phase(workload)
        enqueue.stop(workload.pk)
    return True


def ended(workload: Workload, said: str = "") -> bool:
    """What was idle has ended, and is stopped; ``False`` for anything else. ``said`` is what its
    cluster says of the end."""
    if workload.phase != Phase.STOPPING or workload.reason != Reason.IDLE:
        return False
    message = " ".join(filter(None, [workload.message, said]))
    with transaction.atomic():
        causes.end(workload)
        if workload.move(Phase.STOPPED, reason=Reason.IDLE, message=message, running_pods=0):
            events.phase(workload)
        enqueue.admit(workload.cluster_id)
    return True
