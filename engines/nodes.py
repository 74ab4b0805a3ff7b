"""Nodes of a cluster, as engines report them. Part of the protocol in ``engines.base``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Gpu:
    """A GPU. ``memory`` is in bytes. A virtual one is an accounting unit that runs on the CPU."""

    index: int
    model: str
    memory: int
    virtual: bool = False


@dataclass(frozen=True)
class Allocation:
    """Requests of pods that run or are about to: ``cpu`` in cores, ``memory`` in bytes."""

    cpu: float
    memory: int
    gpus: float


@dataclass(frozen=True)
class Taint:
    """A taint, which keeps pods away that do not tolerate it."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True)
class Condition:
    """A condition that a node reports; ``status`` is ``True``, ``False`` or ``Unknown``."""

    kind: str
    status: str
    reason: str = ""
    message: str = ""


@dataclass(frozen=True)
class NodeInfo:
    """A machine and its allocatable resources: ``cpu`` in cores, ``memory`` in bytes.

    ``allocated`` are the requests of pods on it at ``counted_at``; ``None`` if the engine does not
    know. ``resources`` are amounts of further resources that pods may request, by name.
    """

    name: str
    cpu: float
    memory: int
    gpus: tuple[Gpu, ...] = ()
    ready: bool = True
    message: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    conditions: tuple[Condition, ...] = ()
    resources: Mapping[str, float] = field(default_factory=dict)
    allocated: Allocation | None = None
    counted_at: datetime | None = None
