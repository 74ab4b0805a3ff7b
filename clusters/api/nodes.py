"""REST: nodes and node pools, in Run:ai's words."""

from collections import defaultdict
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from ninja import Query, Router, Status

from accounts.api import ApiRequest
from accounts.models import User
from clusters.api.clusters import cluster_of
from clusters.models import Cluster, Node, NodePool, NodeQuerySet
from clusters.nodes import pools
from clusters.nodes.rows import (
    CORDONED,
    NOT_READY,
    READY,
    UNKNOWN,
    NodeRow,
    PoolRow,
    pool_rows,
    rows_of,
)
from core.api import TENANT, Closed, Count, Pages, Parameters, Wire, judged, not_found, words
from core.filters import ID, NUMBER, TEXT, Fields, Filtered, Sorted, narrow, order

router = Router(tags=["Nodes"])

CANNOT = "The node pool cannot be saved."
ANY = "*"
FIELDS: Fields = {
    "name": ("name", TEXT),
    "clusterUuid": ("cluster_id", ID),
    "gpuCount": ("gpu_count", NUMBER),
}


class GpuInfo(Wire):
    gpu_type: str
    gpu_count: int


class Amounts(Wire):
    """GPUs, cores and bytes; null if unknown."""

    gpu: float | None
    cpu: float | None
    memory: int | None


class NodeOut(Wire):
    """``createdAt`` is when its cluster was added, ``updatedAt`` when that was last looked at."""

    id: str
    name: str
    status: Annotated[str, words(READY, CORDONED, NOT_READY, UNKNOWN)]
    conditions: list[dict[str, str]]
    taints: list[dict[str, str]]
    labels: dict[str, str]
    node_pool: str
    gpu_info: GpuInfo
    allocatable: Amounts
    allocated: Amounts
    cluster_uuid: UUID
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, row: NodeRow, cluster: Cluster) -> "NodeOut":
        node, held = row.node, row.held
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
                gpu=held.gpus if held else None,
                cpu=held.cpu if held else None,
                memory=held.memory if held else None,
            ),
            cluster_uuid=node.cluster_id,
            created_at=cluster.created_at,
            updated_at=cluster.checked_at or cluster.created_at,
        )


class NodeList(Wire):
    nodes: list[NodeOut]
    next: int | None


class NodeNarrowing(Filtered):
    cluster_id: UUID | None = None
    name: str = ""
    node_pool: str = ""

    def rows(self, user: User) -> NodeQuerySet:
        nodes = Node.objects.filter(cluster__in=Cluster.objects.visible_to(user))
        if self.cluster_id:
            nodes = nodes.filter(cluster=self.cluster_id)
        if self.node_pool:
            nodes = nodes.in_pool(self.node_pool)
        for text in filter(None, (self.name, self.search)):
            nodes = nodes.filter(name__icontains=text)
        return narrow(nodes, self.filter_by, FIELDS)


class NodeListing(Pages, Sorted, NodeNarrowing):
    sort_by: str = "name"


@router.get("/nodes", response=NodeList, by_alias=True)
def list_nodes(request: ApiRequest, listing: Query[NodeListing]) -> NodeList:
    """Nodes of the clusters that you can see, with what is allocatable and allocated. ``filterBy``
    and ``sortBy`` take ``name``, ``clusterUuid`` and ``gpuCount``."""
    nodes = order(listing.rows(request.user).select_related("pool", "cluster"), listing, FIELDS)
    page, following = listing.cut(nodes)
    by_cluster: dict[UUID, list[Node]] = defaultdict(list)
    for node in page:
        by_cluster[node.cluster_id].append(node)
    rows = {
        row.node.pk: NodeOut.of(row, theirs[0].cluster)
        for theirs in by_cluster.values()
        for row in rows_of(theirs[0].cluster, theirs)
    }
    return NodeList(nodes=[rows[node.pk] for node in page], next=following)


@router.get("/nodes/count", response=Count, by_alias=True)
def count_nodes(request: ApiRequest, narrowing: Query[NodeNarrowing]) -> Count:
    """How many pass the filters."""
    return Count(count=narrowing.rows(request.user).count())


class PoolOut(Wire):
    """The pool ``default`` has ``*`` as its label: all nodes that are in no other pool."""

    id: str
    tenant_id: int = TENANT
    name: str
    is_default: bool
    cluster_id: UUID
    cluster_name: str
    label_key: str
    label_value: str
    over_provisioning_ratio: int = 1
    created_by: str = ""
    updated_by: str = ""
    phase: Annotated[str, words("Ready", "Empty", "Unschedulable")]
    nodes: int
    allocatable: Amounts
    allocated: Amounts
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, cluster: Cluster, row: PoolRow) -> "PoolOut":
        pool = row.pool
        return cls(
            id=str(pool.pk) if pool else f"{cluster.pk}-default",
            name=row.name,
            is_default=pool is None,
            cluster_id=cluster.pk,
            cluster_name=cluster.name,
            label_key=pool.label_key if pool else ANY,
            label_value=pool.label_value if pool else ANY,
            phase=row.status,
            nodes=row.nodes,
            allocatable=Amounts(gpu=row.gpus, cpu=row.cpu, memory=row.memory),
            allocated=Amounts(gpu=row.held_gpus, cpu=row.held_cpu, memory=row.held_memory),
            created_at=pool.created_at if pool else cluster.created_at,
            updated_at=pool.updated_at if pool else cluster.created_at,
        )


class PoolList(Wire):
    nodepools: list[PoolOut]


class PoolLabel(Closed):
    """Run:ai's other fields can only be what its client always sends: an ``overProvisioningRatio``
    of 1, ``Auto``, and null."""

    label_key: str
    label_value: str = ""
    over_provisioning_ratio: Literal[1] | None = None
    gpu_network_acceleration_detection: Literal["Auto"] | None = None
    gpu_network_acceleration_label_key: None = None
    gpu_resource_optimization: None = None
    network_topology_id: None = None
    placement_strategy: None = None
    scheduling_configuration: None = None

    @property
    def label(self) -> dict[str, str]:
        return {"label_key": self.label_key, "label_value": self.label_value}


class PoolLabelChange(PoolLabel):
    label_key: str | None = None  # type: ignore[assignment]  # what is missing does not change
    label_value: str | None = None  # type: ignore[assignment]

    @property
    def label(self) -> dict[str, str]:
        return {key: text for key, text in super().label.items() if text is not None}


class PoolIn(PoolLabel):
    name: str
    cluster_id: UUID


class PoolListing(Parameters):
    cluster_id: UUID | None = None
    name: str = ""
    search: str = ""

    def rows(self, user: User) -> list[PoolOut]:
        clusters = Cluster.objects.visible_to(user)
        if self.cluster_id:
            clusters = clusters.filter(pk=self.cluster_id)
        rows = [PoolOut.of(cluster, row) for cluster in clusters for row in pool_rows(cluster)]
        text = self.search.lower()
        return [it for it in rows if self.name in {"", it.name} and text in it.name.lower()]


@router.get("/node-pools", response=PoolList, by_alias=True)
def list_pools(request: ApiRequest, listing: Query[PoolListing]) -> PoolList:
    """Node pools of the clusters that you can see, the pool default included."""
    return PoolList(nodepools=listing.rows(request.user))


@router.get("/node-pools/count", response=Count, by_alias=True)
def count_pools(request: ApiRequest, listing: Query[PoolListing]) -> Count:
    """How many there are, the pools default included."""
    return Count(count=len(listing.rows(request.user)))


@router.get("/node-pools/{int:pool_id}", response=PoolOut, by_alias=True)
def get_pool(request: ApiRequest, pool_id: int) -> PoolOut:
    """One node pool. The pool default is in the list only."""
    return _out(_pool(request, pool_id))


@router.post("/node-pools", response={201: PoolOut}, by_alias=True)
def create_pool(request: ApiRequest, body: PoolIn) -> Status[PoolOut]:
    """A pool of the nodes with this label."""
    cluster = cluster_of(request, body.cluster_id)
    with judged(CANNOT):
        pool = pools.create_pool(cluster, by=request.user, name=body.name, **body.label)
    return Status(201, _out(pool))


@router.put("/node-pools/{int:pool_id}", response=PoolOut, by_alias=True)
def update_pool(request: ApiRequest, pool_id: int, body: PoolLabel) -> PoolOut:
    """Take the nodes with another label. The name stays."""
    pool = _pool(request, pool_id)
    with judged(CANNOT):
        pools.update_pool(pool, by=request.user, **body.label)
    return _out(pool)


@router.patch("/node-pools/{int:pool_id}", response=PoolOut, by_alias=True)
def change_pool(request: ApiRequest, pool_id: int, body: PoolLabelChange) -> PoolOut:
    """The same, with what is given of key and value."""
    pool = _pool(request, pool_id)
    label = {"label_key": pool.label_key, "label_value": pool.label_value} | body.label
    with judged(CANNOT):
        pools.update_pool(pool, by=request.user, **label)
    return _out(pool)


@router.delete("/node-pools/{int:pool_id}", response={204: None})
def delete_pool(request: ApiRequest, pool_id: int) -> Status[None]:
    """Its nodes go to the pool default. 409 while workloads or projects use it."""
    pool = _pool(request, pool_id)
    with judged(CANNOT, pools.InUse):
        pools.delete_pool(pool, by=request.user)
    return Status(204, None)


def _out(pool: NodePool) -> PoolOut:
    rows = pool_rows(pool.cluster)
    return PoolOut.of(pool.cluster, next(row for row in rows if row.pool == pool))


def _pool(request: ApiRequest, pool_id: int) -> NodePool:
    visible = Cluster.objects.visible_to(request.user)
    pool = (
        NodePool.objects.select_related("cluster").filter(pk=pool_id, cluster__in=visible).first()
    )
    if pool is None:
        raise not_found("The node pool")
    return pool
