"""The machines of a cluster, as an engine shows them. Part of the protocol in ``base``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Gpu:
    """One device. ``memory`` in bytes; a virtual one is an accounting unit that runs on the CPU."""

    index: int
    model: str
    memory: int
    virtual: bool = False


@dataclass(frozen=True)
class Allocation:
    """What pods asked for, running or about to: ``cpu`` in cores, ``memory`` in bytes."""

    cpu: float
    memory: int
    gpus: float


@dataclass(frozen=True)
class Taint:
    """What keeps pods that do not tolerate it away from a node."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True)
class Condition:
    """What a node says of itself; ``status`` is ``True``, ``False`` or ``Unknown``."""

    kind: str
    status: str
    reason: str = ""
    message: str = ""


@dataclass(frozen=True)
class NodeInfo:
    """A machine with what it can give: ``cpu`` in cores, ``memory`` in bytes.

    ``allocated`` is ``None`` where the engine does not know what others hold of it, else what they
    did at ``counted_at``; ``resources`` names what pods may ask for beside CPU and memory.
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
    resources: tuple[str, ...] = ()
    allocated: Allocation | None = None
    counted_at: datetime | None = None
