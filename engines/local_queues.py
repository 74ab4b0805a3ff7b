"""Kueue's LocalQueues, each with what its ClusterQueue lets workloads have."""

from dataclasses import dataclass

# resources as Kubernetes names them
CPU = "cpu"
MEMORY = "memory"
GPU = "nvidia.com/gpu"
#: The LocalQueue to which Kueue assigns the jobs of its namespace that name none.
DEFAULT_QUEUE = "default"


@dataclass(frozen=True)
class ResourceQuota:
    """The quota of a ClusterQueue for one resource, in cores, bytes or devices.

    ``nominal`` is the sum over its flavors. ``most`` includes what it may borrow, and is ``None``
    where only the cohort limits that. ``most_of_role`` is the same for the flavor that has most:
    all pods of a role are of one flavor.
    """

    resource: str
    nominal: float
    most: float | None
    most_of_role: float | None


@dataclass(frozen=True)
class LocalQueue:
    """A queue of a namespace. ``why_inactive`` says why it starts nothing now, and is empty if it
    does. ``quotas`` are those of its ClusterQueue; ``None`` if they are unknown."""

    namespace: str
    name: str
    cluster_queue: str
    why_inactive: str = ""
    quotas: tuple[ResourceQuota, ...] | None = None
