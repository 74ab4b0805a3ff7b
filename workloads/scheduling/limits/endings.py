"""Recognize the end of workloads that Trainyard itself stopped."""

from workloads.models import Workload
from workloads.scheduling import requeue
from workloads.scheduling.limits import idle_limits, time_limits


def settled(workload: Workload, said: str = "") -> bool:
    """Move such a workload to the phase that its end means; ``False`` for any other. ``said`` is
    what its cluster says about the end."""
    return any(by.ended(workload, said) for by in (requeue, time_limits, idle_limits))
