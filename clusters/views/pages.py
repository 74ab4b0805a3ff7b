"""Clusters: what there is, and how much of it is in use."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.db.models import Sum
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.text import get_text_list
from django.views.decorators.http import require_safe

from accounts.http import Request
from accounts.models import User
from clusters.models import Cluster, Node, State
from core.http import render_partial
from spec.phases import HOLDING
from spec.quantities import readable

WORKLOADS_SHOWN = 50
TONES = {
    State.WAITING: "info",
    State.CONNECTED: "success",
    State.DISCONNECTED: "danger",
    State.MISSING: "warning",
    State.ISSUES: "warning",
}


@dataclass(frozen=True)
class Room:
    """All that the ready machines of a cluster have, and what workloads hold of it."""

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


def room_of(cluster: Cluster, held: dict[str, Any]) -> Room:
    nodes = [node for node in cluster.nodes.all() if node.ready]
    return Room(
        gpus=sum(len(node.gpus) for node in nodes),
        cpu=sum(node.cpu for node in nodes),
        memory=sum(node.memory for node in nodes),
        held_gpus=round(held.get("gpus") or 0, 4),
        held_cpu=round(held.get("cpu") or 0, 4),
        held_memory=held.get("memory") or 0,
    )


def held_in(clusters: list[Cluster]) -> dict[UUID, dict[str, Any]]:
    """Sums over the workloads that hold something, by cluster, in one query."""
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


@require_safe
@login_required
def listing(request: Request) -> HttpResponse:
    clusters = list(Cluster.objects.visible_to(request.user).prefetch_related("nodes"))
    held = held_in(clusters)
    rows = [
        {
            "cluster": cluster,
            "tone": TONES[State(cluster.state)],
            "room": room_of(cluster, held.get(cluster.pk, {})),
        }
        for cluster in clusters
    ]
    virtual = any(cluster.has_virtual_gpus for cluster in clusters)
    context = {"rows": rows, "has_virtual_gpus": virtual}
    return render_partial(request, "clusters/clusters.html", "rows", context)


@require_safe
@login_required
def detail(request: Request, pk: UUID) -> HttpResponse:
    seen = Cluster.objects.visible_to(request.user).prefetch_related("nodes")
    cluster = get_object_or_404(seen, pk=pk)
    context = {
        "cluster": cluster,
        "tone": TONES[State(cluster.state)],
        "room": room_of(cluster, held_in([cluster]).get(cluster.pk, {})),
        "frameworks": cluster.capabilities.frameworks,
        "queues": cluster.capabilities.queues,
        "nodes": [node_row(node) for node in cluster.nodes.all()],
        **workloads_on(cluster, request.user),
    }
    return render_partial(request, "clusters/cluster.html", "detail", context)


def workloads_on(cluster: Cluster, user: User) -> dict[str, Any]:
    """Whose work holds this cluster: the user's own by name, the others as a number."""
    holding = cluster.workloads.holding()
    seen = holding.visible_to(user).for_list().prefetch_related("ranks").order_by("-created_at")
    rows = [(workload, places(workload.ranks.all())) for workload in seen[:WORKLOADS_SHOWN]]
    total = holding.count()
    return {"workloads": rows, "unlisted": total - len(rows)}


def places(ranks: Iterable[Any]) -> str:
    """Where the ranks are, such as ``node-1, GPUs 0 and 1``; empty before any has a place."""
    devices: dict[str, set[int]] = {}
    for rank in ranks:
        if rank.node or rank.gpu_devices:
            devices.setdefault(rank.node, set()).update(rank.gpu_devices)
    return "; ".join(_place(node, sorted(held)) for node, held in sorted(devices.items()))


def _place(node: str, devices: list[int]) -> str:
    numbers = get_text_list([str(device) for device in devices], "and")
    gpus = f"GPU{'' if len(devices) == 1 else 's'} {numbers}"
    return ", ".join(part for part in (node, gpus if devices else "") if part)


def node_row(node: Node) -> dict[str, Any]:
    """A machine with its GPUs in words, such as ``4 × Virtual GPU, 16 GB``."""
    kinds: dict[str, int] = {}
    for gpu in node.gpus:
        words = f"{gpu.model}, {readable(gpu.memory)}"
        kinds[words] = kinds.get(words, 0) + 1
    gpus = "; ".join(f"{count} × {words}" for words, count in kinds.items())
    return {"node": node, "gpus": gpus}
