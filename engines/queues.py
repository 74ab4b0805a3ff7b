"""Queues of projects, for engines whose scheduler enforces quotas."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from spec.parts.scheduling import DEFAULT_POOL


@dataclass(frozen=True)
class Queue:
    """The quota of a project in a node pool: GPUs, CPU cores and bytes of memory. ``None`` means no
    limit.

    ``department`` names the department of the project, and is empty for the queue of a department.
    ``weight`` is its share of idle resources; with 0 it never exceeds its quota. ``gpu_limit`` is
    the most GPUs that it gets. Of queues with an equal claim, the one of the highest ``priority``
    goes first; departments have none.
    """

    name: str
    department: str
    gpus: float
    cpu: float | None
    memory: int | None
    weight: float
    gpu_limit: float | None = None
    priority: int | None = None
    pool: str = DEFAULT_POOL


Wanted = Callable[[], Iterable[Queue]]  # called only when it is needed
