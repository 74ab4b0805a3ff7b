"""Stores what an engine reports about a waiting workload."""

from datetime import UTC, datetime

from engines.base import Observation
from spec.phases import Phase
from spec.problems.causes import Cause, CauseKind, Share
from workloads import reconcile
from workloads.models import Workload

GPUS = Cause(CauseKind.CAPACITY, "Not enough free GPUs", shares=(Share("few", 2),), total=3)
IMAGE = Cause(CauseKind.IMAGE, "The image a:1 cannot be pulled")
AT = datetime(2026, 1, 1, tzinfo=UTC)


def see(workload: Workload, sequence: int, phase: Phase, cause: Cause | None = None) -> Observation:
    """Store an observation of a workload, and return it."""
    message = cause.message if cause else ""
    seen = Observation(workload.pk, workload.run, sequence, phase, AT, message=message, cause=cause)
    reconcile.apply(Workload.objects.get(pk=workload.pk), seen)
    return seen
