"""Whose part of a cluster is how large, for engines whose scheduler holds to that itself."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Queue:
    """What a project deserves: GPUs, CPU cores, bytes of memory; ``None`` is no bound.

    ``department`` is the one it belongs to, and empty for the queue of a department itself.
    ``weight`` is its share of what others leave over; with 0 it never goes over its quota.
    """

    name: str
    department: str
    gpus: float
    cpu: float | None
    memory: int | None
    weight: int


Wanted = Callable[[], Iterable[Queue]]  # asked when it is needed, and no sooner
