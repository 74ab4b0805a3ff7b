"""REST: nodes, with Run:ai's names."""

from collections import defaultdict
from datetime import datetime
from typing import Annotated
from uuid import UUID

from ninja import Field, Query, Router

from accounts.api.tokens import ApiRequest
from accounts.models import User
from clusters.models import Cluster, Node, NodeQuerySet
from clusters.nodes.rows import (
    CORDONED,
    NOT_READY,
    READY,
    UNKNOWN,
    NodeRow,
    node_rows,
)
from core.rest.api import Count, NextOffset, Pages, Wire, enum_schema
from core.rest.filters import (
    ID,
    NUMBER,
    TEXT,
    Fields,
    Filtered,
    SortBy,
    SortParameters,
    filter_queryset,
    sort_queryset,
)

router = Router(tags=["Nodes"])

FIELDS: Fields = {
    "name": ("name", TEXT),
    "clusterUuid": ("cluster_id", ID),
    "gpuCount": ("gpu_count", NUMBER),
}


class GpuInfo(Wire):
    gpu_type: str = Field(description="The model of the GPUs")
    gpu_count: int = Field(description="How many GPUs it has")


class Amounts(Wire):
    """Numbers of GPUs and CPU cores, and bytes of memory; null if unknown."""

    gpu: float | None = Field(description="GPUs; a part of a GPU is a fraction")
    cpu: float | None = Field(description="CPU, in cores")
    memory: int | None = Field(description="Memory, in bytes")


class NodeOut(Wire):
    """``createdAt`` is when the node's cluster was added, ``updatedAt`` when it was last
    checked."""

    id: str = Field(description="Its ID")
    name: str = Field(description="The name")
    status: Annotated[str, enum_schema(READY, CORDONED, NOT_READY, UNKNOWN)] = Field(
        description="Its status"
    )
    conditions: list[dict[str, str]] = Field(
        description="What the cluster reports about the node, such as Ready"
    )
    taints: list[dict[str, str]] = Field(description="The taints of the node")
    labels: dict[str, str] = Field(description="The labels of the node, by key")
    node_pool: str = Field(description="The name of the node pool")
    gpu_info: GpuInfo = Field(description="The GPUs of the node")
    allocatable: Amounts = Field(description="What workloads can use altogether")
    allocated: Amounts = Field(description="What workloads use now")
    cluster_uuid: UUID = Field(description="The ID of the cluster")
    created_at: datetime = Field(description="When it was created")
    updated_at: datetime = Field(description="When it last changed")

    @classmethod
    def of(cls, row: NodeRow, cluster: Cluster) -> "NodeOut":
        node = row.node
        allocation = row.allocation
        return cls(
            id=str(node.pk),
            name=node.name,
            status=row.status,
            conditions=[
                {("type" if key == "kind" else key): value for key, value in item.items()}
                for item in node.conditions_json
            ],
            taints=node.taints_json,
            labels=node.labels_json,
            node_pool=row.pool,
            gpu_info=GpuInfo(gpu_type=row.gpu_type, gpu_count=node.gpu_count),
            allocatable=Amounts(gpu=node.gpu_count, cpu=node.cpu, memory=node.memory),
            allocated=Amounts(
                gpu=allocation.gpus if allocation else None,
                cpu=allocation.cpu if allocation else None,
                memory=allocation.memory if allocation else None,
            ),
            cluster_uuid=node.cluster_id,
            created_at=cluster.created_at,
            updated_at=cluster.checked_at or cluster.created_at,
        )


class NodeList(Wire):
    nodes: list[NodeOut] = Field(description="The nodes")
    next: NextOffset


class NodeNarrowing(Filtered):
    cluster_id: UUID | None = Field(default=None, description="Only those of this cluster")
    name: str = Field(default="", description="Only nodes whose name contains this")
    node_pool: str = Field(default="", description="Only nodes of the node pool with this name")

    def rows(self, user: User) -> NodeQuerySet:
        nodes = Node.objects.filter(cluster__in=Cluster.objects.visible_to(user))
        if self.cluster_id:
            nodes = nodes.filter(cluster=self.cluster_id)
        if self.node_pool:
            nodes = nodes.in_pool(self.node_pool)
        for text in filter(None, (self.name, self.search)):
            nodes = nodes.filter(name__icontains=text)
        return filter_queryset(nodes, self.filter_by, FIELDS)


class NodeListing(Pages, SortParameters, NodeNarrowing):
    sort_by: SortBy = "name"


@router.get("/nodes", response=NodeList, by_alias=True)
def list_nodes(request: ApiRequest, listing: Query[NodeListing]) -> NodeList:
    """Nodes of the clusters that you can see, with what is allocatable and allocated. ``filterBy``
    and ``sortBy`` take ``name``, ``clusterUuid`` and ``gpuCount``."""
    nodes = sort_queryset(
        listing.rows(request.user).select_related("pool", "cluster"), listing, FIELDS
    )
    page, following = listing.cut(nodes)
    by_cluster: dict[UUID, list[Node]] = defaultdict(list)
    for node in page:
        by_cluster[node.cluster_id].append(node)
    answers: dict[int, NodeOut] = {}
    for nodes_of_cluster in by_cluster.values():
        cluster = nodes_of_cluster[0].cluster
        for row in node_rows(cluster, nodes_of_cluster):
            answers[row.node.pk] = NodeOut.of(row, cluster)
    return NodeList(nodes=[answers[node.pk] for node in page], next=following)


@router.get("/nodes/count", response=Count, by_alias=True)
def count_nodes(request: ApiRequest, narrowing: Query[NodeNarrowing]) -> Count:
    """The number of nodes that match the filters."""
    return Count(count=narrowing.rows(request.user).count())
