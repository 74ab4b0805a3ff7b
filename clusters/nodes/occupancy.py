"""Totals of clusters, and how much of them is in use."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, Sum

from clusters.models import Cluster
from spec.phases import HOLDING_RESOURCES
from spec.values.quantities import format_bytes


@dataclass(frozen=True)
class Occupancy:
    """Totals of a cluster's ready nodes, and how much of them is in use."""

    gpus: int
    cpu: float
    memory: int
    used_gpus: float
    used_cpu: float
    used_memory: int

    @property
    def meters(self) -> list[tuple[str, float, float, str]]:
        """Bars for pages: label, used, total and text."""
        gpus = f"{self.used_gpus:g} of {self.gpus}"
        cpu = f"{self.used_cpu:g} of {self.cpu:g}"
        memory = f"{format_bytes(self.used_memory)} of {format_bytes(self.memory)}"
        return [
            ("GPUs", self.used_gpus, self.gpus, gpus),
            ("CPU cores", self.used_cpu, self.cpu, cpu),
            ("CPU memory", self.used_memory, self.memory, memory),
        ]


def occupancies(clusters: Sequence[Cluster]) -> dict[UUID, Occupancy]:
    """Return the occupancy of clusters by their ids, in two queries."""
    # If the nodes report the requests of their pods, these count: they include pods of other
    # programs, and a workload may hold less than it requests while it waits for pods.
    used = _used_by_workloads(clusters) | _used_on_nodes(clusters)
    return {cluster.pk: _occupancy(cluster, used.get(cluster.pk, {})) for cluster in clusters}


def _occupancy(cluster: Cluster, used: dict[str, Any]) -> Occupancy:
    return Occupancy(
        gpus=cluster.gpu_count,
        cpu=cluster.cpu,
        memory=cluster.memory,
        used_gpus=round(used.get("gpus") or 0, 4),
        used_cpu=round(used.get("cpu") or 0, 4),
        used_memory=used.get("memory") or 0,
    )


def _used_on_nodes(clusters: Sequence[Cluster]) -> dict[UUID, dict[str, Any]]:
    """Return the sums of pods' requests, for clusters whose nodes report them. Pods on nodes that
    are not ready do not count."""
    reporting = {"nodes__allocated_cpu__isnull": False}
    ready = Q(nodes__ready=True)
    rows = (
        Cluster.objects.filter(pk__in=[cluster.pk for cluster in clusters], **reporting)
        .values("pk")
        .annotate(
            gpus=Sum("nodes__allocated_gpus", filter=ready),
            cpu=Sum("nodes__allocated_cpu", filter=ready),
            memory=Sum("nodes__allocated_memory", filter=ready),
        )
    )
    return {row["pk"]: dict(row) for row in rows}


def _used_by_workloads(clusters: Sequence[Cluster]) -> dict[UUID, dict[str, Any]]:
    """Return the sums of the demands of Trainyard's own workloads."""
    holding = {"workloads__phase__in": HOLDING_RESOURCES, "workloads__deleted_at": None}
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
