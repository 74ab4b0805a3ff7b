"""Stop workspaces that were idle for as long as their spec allows.

Idle is judged by the usage samples of the ranks. If there are gaps in the samples nobody knows, and
the workspace is not stopped.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from spec.phases import Phase, Reason
from spec.problems import time_limit
from workloads.models import SampleKind, Workload
from workloads.scheduling.limits import stopping
from workloads.scheduling.limits.limited import workloads_with_limit

CORES = 0.05  # an idle notebook server uses a tenth of this
GPU_PERCENT = 1.0
GAP = timedelta(minutes=2)  # longest gap between samples; beyond it usage is unknown
SAMPLES_AT_ONCE = 500


def stop_idle_workspaces() -> None:
    """Ask every workspace to end that has been idle for its limit."""
    now = timezone.now()
    columns = ("phase", "phase_updated_at", "run")
    for workload, seconds in workloads_with_limit("idle_limit_seconds", *columns):
        earliest = now - timedelta(seconds=seconds)
        if idle_since(workload, now, uses_anything, earliest=earliest) <= earliest:
            stop_idle(Workload.objects.get(pk=workload.pk))


def uses_anything(usage: Mapping[str, Any]) -> bool | None:
    """Whether a rank uses its CPU or GPU, by a usage sample; ``None`` if nobody knows."""
    cpu = usage.get("cpu")
    return None if cpu is None else cpu > CORES or usage.get("gpu", 0) > GPU_PERCENT


def uses_gpu(usage: Mapping[str, Any]) -> bool | None:
    """Whether a rank uses its GPUs, by a usage sample; ``None`` if nobody knows."""
    gpu = usage.get("gpu")
    return None if gpu is None else gpu > GPU_PERCENT


def idle_since(
    workload: Workload,
    now: datetime,
    uses: Callable[[Mapping[str, Any]], bool | None],
    *,
    earliest: datetime,
) -> datetime:
    """Return since when no rank has been used, as far as anybody knows; at most since ``earliest``.
    The time before a gap in the samples counts as use. A sample that does not say, such as that of
    a launcher without GPUs, counts as none."""
    begin = max(workload.phase_updated_at, earliest)
    samples = workload.samples.filter(kind=SampleKind.USAGE, run=workload.run, at__gte=begin)
    since = now
    newest_first = samples.order_by("-at").values_list("at", "values")
    for at, usage in newest_first.iterator(chunk_size=SAMPLES_AT_ONCE):
        if since - at > GAP:
            return since
        is_used = uses(usage)
        if is_used:
            return at
        if is_used is False:
            since = at
    return begin if since - begin <= GAP else since


def stop_idle(workload: Workload) -> bool:
    """Ask every rank to end. ``False`` if it ended, or was asked to, meanwhile."""
    why = time_limit.idle_limit_sentence(workload.spec_json["idleLimitSeconds"])
    return stopping.request_stop(workload, reason=Reason.IDLE, why=why)


def finish_idle_stop(workload: Workload, end_message: str = "") -> bool:
    """Move an idle workspace that has ended to Stopped. ``False`` for anything else."""
    return stopping.finish_stop(
        workload, Phase.STOPPED, reason=Reason.IDLE, end_message=end_message
    )
