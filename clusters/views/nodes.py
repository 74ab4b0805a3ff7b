"""The pages of nodes: a table for thousands of them, and one node in a drawer."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from accounts.http import Request
from clusters.models import Cluster, Node, NodeQuerySet
from clusters.nodes.rows import node_rows, pool_rows, without_labels
from clusters.views.pages import tabs_of
from core.web.http import render_partial
from core.web.pages import is_in_drawer
from core.web.query import search_text
from spec.parts.scheduling import DEFAULT_POOL

NODES_A_PAGE = 50


@require_safe
@login_required
def listing(request: Request, pk: UUID) -> HttpResponse:
    cluster = get_object_or_404(Cluster.objects.visible_to(request.user), pk=pk)
    text = search_text(request.GET)
    pool = search_text(request.GET, "pool")
    rows = without_labels(
        filter_nodes(Node.objects.filter(cluster=cluster).select_related("pool"), text, pool)
    )
    page = Paginator(rows, NODES_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "cluster": cluster,
        "tabs": tabs_of(cluster, request.user),
        "tab": "nodes",
        "page": page,
        "rows": node_rows(cluster, page),
        "q": text,
        "pool": pool,
        "pools": [DEFAULT_POOL, *cluster.pools.values_list("name", flat=True)],
        "has_virtual_gpus": any(gpu.virtual for node in page for gpu in node.gpus),
    }
    return render_partial(request, "clusters/nodes.html", "rows", context)


def filter_nodes(nodes: NodeQuerySet, text: str, pool: str) -> NodeQuerySet:
    """Return the nodes of a pool that have ``text`` in their name, their pool or their GPUs."""
    if text:
        words = Q(name__icontains=text) | Q(pool__name__icontains=text)
        nodes = nodes.filter(words | Q(gpus_json__icontains=text))
    return nodes.in_pool(pool) if pool else nodes


@require_safe
@login_required
def detail(request: Request, pk: UUID, node: int) -> HttpResponse:
    cluster = get_object_or_404(Cluster.objects.visible_to(request.user), pk=pk)
    machine = get_object_or_404(cluster.nodes.select_related("pool"), pk=node)
    row = node_rows(cluster, [machine])[0]
    context = {
        "cluster": cluster,
        "node": machine,
        "row": row,
        "facts": (("Node pool", row.pool), ("GPU type", row.gpus), ("Cluster", cluster.name)),
        "labels": sorted(machine.labels_json.items()),
        "in_drawer": is_in_drawer(request),
    }
    return render_partial(request, "clusters/node.html", "detail", context)


@require_safe
@login_required
def pools(request: Request, pk: UUID) -> HttpResponse:
    cluster = get_object_or_404(Cluster.objects.visible_to(request.user), pk=pk)
    rows = pool_rows(cluster)
    context = {
        "cluster": cluster,
        "tabs": tabs_of(cluster, request.user),
        "tab": "pools",
        "rows": rows,
        "every": "2s" if any(row.may_get_nodes for row in rows) else "30s",
    }
    return render_partial(request, "clusters/pools.html", "rows", context)
