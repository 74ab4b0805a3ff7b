"""Parts of a cluster, and accounts on it, that have limits of their own, where its scheduler knows
such."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NodeShape:
    """``count`` nodes that are alike, whether or not they are up: cores, MiB of memory, GPUs, of
    one model as far as the scheduler is told."""

    count: int
    cpus: int
    memory: int
    gpus: int
    features: tuple[str, ...] = ()
    gpu_model: str = ""


@dataclass(frozen=True)
class Partition:
    """``closed`` is its state where it takes no jobs. A limit of ``None`` is none: seconds of a
    job, nodes of a job, cores and MiB of memory of a job on one node. ``accounts`` are those that
    may use it, and ``nodes`` is ``None`` where the cluster does not tell of all."""

    name: str
    is_default: bool = False
    closed: str = ""
    max_seconds: int | None = None
    max_nodes: int | None = None
    max_cpus: int | None = None
    max_memory: int | None = None
    accounts: tuple[str, ...] | None = None
    nodes: tuple[NodeShape, ...] | None = None


@dataclass(frozen=True)
class BillingAccount:
    """Whom jobs are charged to. ``limits`` is what they may use together, in words; empty where
    there are none. ``is_default``: who names none is charged to this one."""

    name: str
    limits: str = ""
    is_default: bool = False
