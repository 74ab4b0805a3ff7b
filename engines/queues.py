"""Queues of projects, for engines whose scheduler enforces quotas."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Queue:
    """The quota of a project: GPUs, CPU cores and bytes of memory. ``None`` means no limit.

    ``department`` names the department of the project, and is empty for the queue of a department.
    ``weight`` is its share of idle resources; with 0 it never exceeds its quota.
    """

    name: str
    department: str
    gpus: float | None
    cpu: float | None
    memory: int | None
    weight: int


Wanted = Callable[[], Iterable[Queue]]  # called only when it is needed
