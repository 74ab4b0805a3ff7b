"""REST: the nodes of one cluster, and sums of the resources of nodes."""

from collections.abc import Callable, Iterator
from uuid import UUID

from ninja import Field, Query, Router

from accounts.api.tokens import ApiRequest
from clusters.api.clusters import find_cluster
from clusters.api.nodes import NodeList, NodeListing, NodeNarrowing, list_nodes
from clusters.models import Cluster
from clusters.nodes.rows import NodeRow, node_rows
from core.rest.api import Count, Pages, Parameters
from core.rest.filters import Filtered, SortBy, SortParameters
from core.rest.measures import Key, Names, Telemetry, check_groups, refuse_unmeasured, sum_telemetry

router = Router(tags=["Nodes"])

GROUPS = ("ClusterId", "Nodepool")


def _allocated_gpus(row: NodeRow) -> float | None:
    return row.allocation.gpus if row.allocation else None


def _free_gpus(row: NodeRow) -> float | None:
    return row.node.gpu_count - row.allocation.gpus if row.allocation else None


#: The value of a node for each of Run:ai's metrics; ``None`` if it is unknown.
METRICS: dict[str, Callable[[NodeRow], float | None]] = {
    "READY_GPU_NODES": lambda row: float(row.node.ready and row.node.gpu_count > 0),
    "READY_GPUS": lambda row: row.node.gpu_count if row.node.ready else 0,
    "TOTAL_GPU_NODES": lambda row: float(row.node.gpu_count > 0),
    "TOTAL_GPUS": lambda row: row.node.gpu_count,
    "ALLOCATED_GPUS": _allocated_gpus,
    "FREE_GPUS": _free_gpus,
    "TOTAL_CPU_CORES": lambda row: row.node.cpu,
    "ALLOCATED_CPU_CORES": lambda row: row.allocation.cpu if row.allocation else None,
    "TOTAL_CPU_MEMORY_BYTES": lambda row: row.node.memory,
    "ALLOCATED_CPU_MEMORY_BYTES": lambda row: row.allocation.memory if row.allocation else None,
}


class NodeTelemetryQuery(Parameters):
    telemetry_type: str = Field(description=f"One of {', '.join(METRICS)}")
    cluster_id: UUID | None = Field(default=None, description="Only those of this cluster")
    nodepool_name: str = Field(default="", description="Only nodes of the node pool with this name")
    group_by: Names = Field(default=[], description="At most two of ClusterId and Nodepool")


@router.get(
    "/nodes/telemetry", response=Telemetry, by_alias=True, operation_id="read_nodes_telemetry"
)
def nodes_telemetry(request: ApiRequest, query: Query[NodeTelemetryQuery]) -> Telemetry:
    """The sum over the nodes of the clusters that you can see, or one for each group. Metrics that
    no cluster reports are left out."""
    refuse_unmeasured([query.telemetry_type], METRICS)
    check_groups(query.group_by, GROUPS)
    clusters = Cluster.objects.visible_to(request.user)
    if query.cluster_id:
        clusters = clusters.filter(pk=query.cluster_id)
    rows = (
        (_keys(query.group_by, cluster, row), METRICS[query.telemetry_type](row))
        for cluster in clusters
        for row in _rows(cluster, query.nodepool_name)
    )
    return sum_telemetry(query.telemetry_type, rows)


def _rows(cluster: Cluster, pool: str) -> Iterator[NodeRow]:
    rows = node_rows(cluster, cluster.nodes.select_related("pool"))
    return (row for row in rows if pool in ("", row.pool))


def _keys(groups: list[str], cluster: Cluster, row: NodeRow) -> list[Key]:
    labels = {"ClusterId": (str(cluster.pk), cluster.name), "Nodepool": (row.pool, "")}
    return [(name, *labels[name]) for name in groups]


class NodesOfOne(Pages, SortParameters, Filtered):
    sort_by: SortBy = "name"


@router.get("/clusters/{cluster_id}/nodes", response=NodeList, by_alias=True)
def list_nodes_of(request: ApiRequest, cluster_id: UUID, listing: Query[NodesOfOne]) -> NodeList:
    """The nodes of one cluster."""
    find_cluster(request, cluster_id)
    query = NodeListing.model_validate({**listing.model_dump(), "cluster_id": cluster_id})
    return list_nodes(request, query)


@router.get(
    "/clusters/{cluster_id}/nodes/count",
    response=Count,
    by_alias=True,
    operation_id="count_nodes_of_cluster",
)
def count_nodes_of(request: ApiRequest, cluster_id: UUID, narrowing: Query[Filtered]) -> Count:
    """How many nodes of one cluster match the filters."""
    find_cluster(request, cluster_id)
    query = NodeNarrowing.model_validate({**narrowing.model_dump(), "cluster_id": cluster_id})
    return Count(count=query.rows(request.user).count())
