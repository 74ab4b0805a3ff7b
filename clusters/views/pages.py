"""The pages of clusters, with their occupancy."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.text import get_text_list
from django.views.decorators.http import require_safe

from accounts import access
from accounts.http import Request
from accounts.models import User
from clusters.models import Cluster, State
from clusters.nodes.occupancy import occupancies
from clusters.nodes.rows import node_rows, without_labels
from core.web.http import render_partial

WORKLOADS_SHOWN = 50
NODES_SHOWN = 10
TONES = {
    State.WAITING: "info",
    State.CONNECTED: "success",
    State.DISCONNECTED: "danger",
    State.MISSING: "warning",
    State.ISSUES: "warning",
}


@require_safe
@login_required
def listing(request: Request) -> HttpResponse:
    clusters = list(Cluster.objects.visible_to(request.user))
    rooms = occupancies(clusters)
    rows = [
        {
            "cluster": cluster,
            "tone": TONES[State(cluster.state)],
            "room": rooms[cluster.pk],
        }
        for cluster in clusters
    ]
    context = {
        "rows": rows,
        "waits": any(cluster.checked_at is None for cluster in clusters),
        "has_virtual_gpus": any(cluster.has_virtual_gpus for cluster in clusters),
    }
    return render_partial(request, "clusters/clusters.html", "rows", context)


@require_safe
@login_required
def detail(request: Request, pk: UUID) -> HttpResponse:
    visible = Cluster.objects.visible_to(request.user)
    cluster = get_object_or_404(visible, pk=pk)
    context = {
        "cluster": cluster,
        "tone": TONES[State(cluster.state)],
        "tabs": tabs_of(cluster, request.user),
        "room": occupancies([cluster])[cluster.pk],
        "frameworks": cluster.capabilities.frameworks,
        "queues": cluster.capabilities.queues,
        "preparation": cluster.definition.preparation(cluster),
        "rows": node_rows(
            cluster, without_labels(cluster.nodes.select_related("pool"))[:NODES_SHOWN]
        ),
        "node_count": cluster.nodes.count(),
        **workloads_on(cluster, request.user),
    }
    return render_partial(request, "clusters/cluster.html", "detail", context)


def tabs_of(cluster: Cluster, user: User) -> list[tuple[str, str, str]]:
    """Return key, label and address of the tabs of a cluster's page. Only users who may change the
    cluster see its connection."""
    tabs = [
        ("overview", "Overview", "detail"),
        ("nodes", "Nodes", "nodes"),
        ("pools", "Node pools", "pools"),
        ("scheduling", "Scheduling", "scheduling"),
    ]
    if access.may(user, "clusters.update", *cluster.scope_keys):
        tabs.append(("connection", "Connection", "connection"))
    return [
        (key, label, reverse(f"cluster-{page}", args=[cluster.pk])) for key, label, page in tabs
    ]


def workloads_on(cluster: Cluster, user: User) -> dict[str, Any]:
    """Return the context with the workloads that hold resources of a cluster: those that the user
    may see as rows, all others as a number."""
    holding = cluster.workloads.holding()
    visible = holding.visible_to(user).for_list().prefetch_related("ranks").order_by("-created_at")
    rows = [(workload, placements(workload.ranks.all())) for workload in visible[:WORKLOADS_SHOWN]]
    total = holding.count()
    return {"workloads": rows, "unlisted": total - len(rows)}


def placements(ranks: Iterable[Any]) -> str:
    """Return where ranks are placed, such as ``node-1, GPUs 0 and 1``; empty before any is
    placed."""
    devices: dict[str, set[int]] = {}
    for rank in ranks:
        if rank.node or rank.gpu_devices:
            devices.setdefault(rank.node, set()).update(rank.gpu_devices)
    return "; ".join(
        _placement_on_node(node, sorted(held)) for node, held in sorted(devices.items())
    )


def _placement_on_node(node: str, devices: list[int]) -> str:
    numbers = get_text_list([str(device) for device in devices], "and")
    gpus = f"GPU{'' if len(devices) == 1 else 's'} {numbers}"
    return ", ".join(part for part in (node, gpus if devices else "") if part)
