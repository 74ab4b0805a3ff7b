"""Partitions and accounts of a cluster, which have their own limits, if its scheduler has them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NodeShape:
    """``count`` nodes that are alike, up or not: cores, MiB of memory, and GPUs, which have one
    model as far as the scheduler knows."""

    count: int
    cpus: int
    memory: int
    gpus: int
    features: tuple[str, ...] = ()
    gpu_model: str = ""


@dataclass(frozen=True)
class Partition:
    """A partition. ``closed`` is its state if it takes no jobs. Limits are seconds of a job, nodes
    of a job, and cores and MiB of memory of a job on one node; ``None`` means no limit. Only
    ``accounts`` and ``qos`` may use it, without the denied ones. ``nodes`` is ``None`` if the
    cluster does not report all of them."""

    name: str
    is_default: bool = False
    closed: str = ""
    max_seconds: int | None = None
    max_nodes: int | None = None
    max_cpus: int | None = None
    max_memory: int | None = None
    accounts: tuple[str, ...] | None = None
    denied_accounts: tuple[str, ...] = ()
    qos: tuple[str, ...] | None = None
    denied_qos: tuple[str, ...] = ()
    nodes: tuple[NodeShape, ...] | None = None


@dataclass(frozen=True)
class JobLimits:
    """The most that one job can ever get: GPUs, CPU cores, MiB of memory, nodes and seconds.
    ``None`` means no limit."""

    gpus: int | None = None
    cpus: int | None = None
    memory: int | None = None
    nodes: int | None = None
    seconds: int | None = None


@dataclass(frozen=True)
class BillingAccount:
    """An account that jobs are charged to. ``limits`` says in words what they may use together;
    empty without limits. Jobs that name no account are charged to the one that ``is_default``.
    Trainyard's user may charge jobs to those with ``is_own``, and use ``qos`` there; ``most`` is
    what one job of that user can get."""

    name: str
    limits: str = ""
    is_default: bool = False
    is_own: bool = False
    qos: tuple[str, ...] = ()
    most: JobLimits = JobLimits()


@dataclass(frozen=True)
class ServiceLevel:
    """A QOS, and the most that a job with it can get."""

    name: str
    most: JobLimits = JobLimits()
