"""Notices a running workload that does nothing, such as a gang whose ranks wait for each other."""

from datetime import datetime, timedelta

from spec.kind import WorkloadKind
from spec.phases import Phase
from workloads import logs
from workloads.models import Workload
from workloads.scheduling.limits.idle_limits import idle_since, uses_anything

LONGEST_PAUSE = timedelta(minutes=10)  # in which a training prints, or uses its CPU or GPU


def quiet_since(workload: Workload, now: datetime) -> datetime | None:
    """Return since when no rank has printed, if that is long ago and no rank has used its CPU or
    GPU lately. ``None`` if it works, or if nobody knows; a workspace may be idle."""
    if workload.phase != Phase.RUNNING or workload.kind == WorkloadKind.WORKSPACE:
        return None
    streams = logs.latest_streams(workload.pk, workload.run, workload.attempt)
    moments = filter(None, map(logs.last_output_at, streams.values()))
    since = max([workload.phase_updated_at, *moments])
    lately = now - LONGEST_PAUSE
    if since > lately or idle_since(workload, now, uses_anything, earliest=lately) > lately:
        return None
    return since
