"""Which part of a cluster each project gets, for engines whose scheduler enforces that itself."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Queue:
    """The quota of a project: GPUs, CPU cores and bytes of memory. ``None`` means no limit.

    ``department`` is the one it belongs to, and empty for the queue of a department itself.
    ``weight`` is its share of what others leave idle; with 0 it never exceeds its quota.
    """

    name: str
    department: str
    gpus: float
    cpu: float | None
    memory: int | None
    weight: int


Wanted = Callable[[], Iterable[Queue]]  # called only when it is needed
