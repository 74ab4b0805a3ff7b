"""What Trainyard itself told to end: it was taken back, reached its time limit, or was idle."""

from workloads.models import Workload
from workloads.scheduling import requeue
from workloads.scheduling.limits import idle_limits, time_limits


def settled(workload: Workload, said: str = "") -> bool:
    """It has ended, and its row says what that means; ``False`` for anything else. ``said`` is what
    its cluster says of the end."""
    return any(by.ended(workload, said) for by in (requeue, time_limits, idle_limits))
