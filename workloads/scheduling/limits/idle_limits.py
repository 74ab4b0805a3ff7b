"""Stop workspaces that were idle for as long as their spec allows.

Idle is judged by the usage samples of the ranks. If there are gaps in the samples nobody knows, and
the workspace is not stopped.
"""

from datetime import datetime, timedelta

from django.utils import timezone

from spec.phases import Phase, Reason
from spec.problems import time_limit
from workloads.models import SampleKind, Workload
from workloads.scheduling.limits import stopping
from workloads.scheduling.limits.limited import workloads_with_limit

CORES = 0.05  # an idle notebook server uses a tenth of this
GPU_PERCENT = 1.0
GAP = timedelta(minutes=2)  # longest gap between samples; beyond it usage is unknown


def stop_idle_workspaces() -> None:
    """Ask every workspace to end that has been idle for its limit."""
    now = timezone.now()
    columns = ("phase", "phase_updated_at", "run")
    for workload, seconds in workloads_with_limit("idle_limit_seconds", *columns):
        since = now - timedelta(seconds=seconds)
        if workload.phase_updated_at <= since and was_idle(workload, since, now):
            stop_idle(Workload.objects.get(pk=workload.pk))


def was_idle(workload: Workload, since: datetime, now: datetime) -> bool:
    """Whether no rank has used its CPU or GPU since then. ``False`` if nobody knows."""
    samples = workload.samples.filter(kind=SampleKind.USAGE, run=workload.run, at__gte=since)
    last = since
    for at, values in samples.order_by("at").values_list("at", "values"):
        if at - last > GAP or values.get("cpu") is None:
            return False
        if values["cpu"] > CORES or values.get("gpu", 0) > GPU_PERCENT:
            return False
        last = at
    return now - last <= GAP


def stop_idle(workload: Workload) -> bool:
    """Ask every rank to end. ``False`` if it ended, or was asked to, meanwhile."""
    why = time_limit.idle_limit_sentence(workload.spec_json["idleLimitSeconds"])
    return stopping.request_stop(workload, reason=Reason.IDLE, why=why)


def finish_idle_stop(workload: Workload, end_message: str = "") -> bool:
    """Move an idle workspace that has ended to Stopped. ``False`` for anything else."""
    return stopping.finish_stop(
        workload, Phase.STOPPED, reason=Reason.IDLE, end_message=end_message
    )
