"""How much clusters have, and how much of it is held."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, Sum

from clusters.models import Cluster
from spec.phases import HOLDING
from spec.values.quantities import readable


@dataclass(frozen=True)
class Occupancy:
    """All that the ready machines of a cluster have, and what is held of it."""

    gpus: int
    cpu: float
    memory: int
    held_gpus: float
    held_cpu: float
    held_memory: int

    @property
    def meters(self) -> list[tuple[str, float, float, str]]:
        """label, used, total, text"""
        gpus = f"{self.held_gpus:g} of {self.gpus}"
        cpu = f"{self.held_cpu:g} of {self.cpu:g}"
        memory = f"{readable(self.held_memory)} of {readable(self.memory)}"
        return [
            ("GPUs", self.held_gpus, self.gpus, gpus),
            ("CPU cores", self.held_cpu, self.cpu, cpu),
            ("CPU memory", self.held_memory, self.memory, memory),
        ]


def occupancies(clusters: Sequence[Cluster]) -> dict[UUID, Occupancy]:
    """Of each cluster, by id; two queries. What nodes say of their pods counts where they do: a
    workload whose pods wait holds less than it asks for, and others' pods hold something, too."""
    held = _held_in(clusters) | _held_on_nodes(clusters)
    return {cluster.pk: _occupancy(cluster, held.get(cluster.pk, {})) for cluster in clusters}


def _occupancy(cluster: Cluster, held: dict[str, Any]) -> Occupancy:
    return Occupancy(
        gpus=cluster.gpu_count,
        cpu=cluster.cpu,
        memory=cluster.memory,
        held_gpus=round(held.get("gpus") or 0, 4),
        held_cpu=round(held.get("cpu") or 0, 4),
        held_memory=held.get("memory") or 0,
    )


def _held_on_nodes(clusters: Sequence[Cluster]) -> dict[UUID, dict[str, Any]]:
    """Sums over the pods of those clusters whose nodes tell. Pods on nodes that are not ready hold
    nothing of what the ready ones have."""
    telling, ready = {"nodes__allocated_cpu__isnull": False}, Q(nodes__ready=True)
    rows = (
        Cluster.objects.filter(pk__in=[cluster.pk for cluster in clusters], **telling)
        .values("pk")
        .annotate(
            gpus=Sum("nodes__allocated_gpus", filter=ready),
            cpu=Sum("nodes__allocated_cpu", filter=ready),
            memory=Sum("nodes__allocated_memory", filter=ready),
        )
    )
    return {row["pk"]: dict(row) for row in rows}


def _held_in(clusters: Sequence[Cluster]) -> dict[UUID, dict[str, Any]]:
    """Sums over the workloads that hold something."""
    holding = {"workloads__phase__in": HOLDING, "workloads__deleted_at": None}
    rows = (
        Cluster.objects.filter(pk__in=[cluster.pk for cluster in clusters], **holding)
        .values("pk")
        .annotate(
            gpus=Sum("workloads__gpus"),
            cpu=Sum("workloads__cpu_cores"),
            memory=Sum("workloads__memory_bytes"),
        )
    )
    return {row["pk"]: dict(row) for row in rows}
