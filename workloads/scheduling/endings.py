"""What Trainyard itself told to end: it was taken back, or it reached its time limit."""

from workloads.models import Workload
from workloads.scheduling import requeue, time_limits


def settled(workload: Workload, said: str = "") -> bool:
    """It has ended, and its row says what that means; ``False`` for anything else. ``said`` is what
    its cluster says of the end."""
    return requeue.ended(workload, said) or time_limits.ended(workload, said)
