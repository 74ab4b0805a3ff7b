"""What the draft's cluster has of volumes and of places to run, and why not where it has none."""

from collections.abc import Mapping
from functools import cached_property

from clusters.models import DEFAULT_POOL, Cluster, Kind
from engines.kubernetes.kinds import KAI
from spec.scheduling import PriorityClass
from workloads.forms.kinds import Option
from workloads.forms.runtime_fields import READINESS, RUNTIME
from workloads.forms.scheduling_fields import SCHEDULING, SIZE
from workloads.forms.storage_fields import STORAGE

ON_KUBERNETES = "Kubernetes clusters have it."
SECTIONS = {
    RUNTIME: "On this machine ranks run as the user of this server, and no image is pulled.",
    READINESS: "On this machine a rank is ready when it runs.",
    STORAGE: "This machine mounts nothing: the ranks see its own files.",
    SCHEDULING: "This machine is the only place to run, in the order of submission.",
    SIZE: "The ranks of this machine start and end together.",
}
NEEDS_KAI = "Needs the KAI scheduler, which this cluster does not have."


class Offer:
    """``cluster`` is ``None`` until the draft has a project."""

    def __init__(self, cluster: Cluster | None) -> None:
        self.cluster = cluster

    @property
    def is_kubernetes(self) -> bool:
        return self.cluster is not None and self.cluster.kind == Kind.KUBERNETES

    def why_not(self, section: str) -> str:
        """Why a section of the page is not for this cluster; empty where it is."""
        if section not in SECTIONS or self.is_kubernetes:
            return ""
        return f"{SECTIONS[section]} {ON_KUBERNETES}"

    def why_no(self, key: str) -> str:
        """Why one field is not for this cluster."""
        if self.cluster is None or self.cluster.kind != Kind.KUBERNETES:
            return ""
        if key == "preemptibility" or key.startswith("topology."):
            return "" if KAI in self.cluster.capabilities.schedulers else NEEDS_KAI
        if key == "priorityClass" and not self.choices["priority_classes"]:
            known = f"{PriorityClass.VERY_LOW} to {PriorityClass.VERY_HIGH}"
            return f"The cluster has none of the PriorityClasses {known}."
        return ""

    @cached_property
    def choices(self) -> Mapping[str, list[Option]]:
        if self.cluster is None:
            return {}
        has = self.cluster.capabilities
        pools = [pool.name for pool in self.cluster.pools.all()]
        named = {
            "storage_classes": has.storage_classes,
            "priority_classes": [str(it) for it in PriorityClass if it in has.priority_classes],
            "node_pools": [*pools, DEFAULT_POOL],
        }
        return {name: [(value, value) for value in values] for name, values in named.items()}
