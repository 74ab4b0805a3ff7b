"""REST: nodes and node pools, in Run:ai's words."""

from datetime import datetime
from itertools import groupby
from uuid import UUID

from ninja import Query, Router, Status

from accounts.api import ApiRequest
from clusters.api.clusters import cluster_of
from clusters.models import Cluster, Node, NodePool
from clusters.nodes import pools
from clusters.nodes.rows import NodeRow, PoolRow, pool_rows, rows_of
from core.api import Closed, Pages, Parameters, Wire, judged, not_found

router = Router(tags=["Nodes"])

CANNOT = "The node pool cannot be saved."


class GpuInfo(Wire):
    gpu_type: str
    gpu_count: int


class Amounts(Wire):
    """GPUs, cores and bytes; null if unknown."""

    gpu: float | None
    cpu: float | None
    memory: int | None


class NodeOut(Wire):
    id: str
    name: str
    status: str
    conditions: list[dict[str, str]]
    taints: list[dict[str, str]]
    labels: dict[str, str]
    node_pool: str
    gpu_info: GpuInfo
    allocatable: Amounts
    allocated: Amounts
    cluster_uuid: UUID

    @classmethod
    def of(cls, row: NodeRow) -> "NodeOut":
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
        )


class NodeList(Wire):
    nodes: list[NodeOut]
    next: int | None


class NodeListing(Pages):
    cluster_id: UUID | None = None
    name: str = ""
    node_pool: str = ""


@router.get("/nodes", response=NodeList, by_alias=True)
def list_nodes(request: ApiRequest, listing: Query[NodeListing]) -> NodeList:
    """Nodes of the clusters that you can see, with what is allocatable and allocated."""
    clusters = {cluster.pk: cluster for cluster in Cluster.objects.visible_to(request.user)}
    wanted = set(clusters) & {listing.cluster_id} if listing.cluster_id else set(clusters)
    nodes = Node.objects.filter(cluster__in=wanted).select_related("pool")
    nodes = nodes.order_by("cluster", "name")
    if listing.name:
        nodes = nodes.filter(name__icontains=listing.name)
    if listing.node_pool:
        nodes = nodes.in_pool(listing.node_pool)
    page, following = listing.cut(nodes)
    grouped = groupby(page, key=lambda node: node.cluster_id)
    rows = [row for pk, group in grouped for row in rows_of(clusters[pk], group)]
    return NodeList(nodes=[NodeOut.of(row) for row in rows], next=following)


@router.get("/clusters/{cluster_id}/nodes", response=NodeList, by_alias=True)
def list_nodes_of(request: ApiRequest, cluster_id: UUID, listing: Query[Pages]) -> NodeList:
    """The nodes of one cluster."""
    cluster_of(request, cluster_id)
    narrowed = NodeListing(offset=listing.offset, limit=listing.limit, cluster_id=cluster_id)
    return list_nodes(request, narrowed)


class PoolOut(Wire):
    id: str
    name: str
    cluster_id: UUID
    label_key: str
    label_value: str
    phase: str
    nodes: int
    allocatable: Amounts
    allocated: Amounts
    created_at: datetime | None
    updated_at: datetime | None

    @classmethod
    def of(cls, cluster: Cluster, row: PoolRow) -> "PoolOut":
        pool = row.pool
        return cls(
            id=str(pool.pk) if pool else f"{cluster.pk}-default",
            name=row.name,
            cluster_id=cluster.pk,
            label_key=pool.label_key if pool else "",
            label_value=pool.label_value if pool else "",
            phase=row.status,
            nodes=row.nodes,
            allocatable=Amounts(gpu=row.gpus, cpu=row.cpu, memory=row.memory),
            allocated=Amounts(gpu=row.held_gpus, cpu=row.held_cpu, memory=row.held_memory),
            created_at=pool.created_at if pool else None,
            updated_at=pool.updated_at if pool else None,
        )


class PoolList(Wire):
    nodepools: list[PoolOut]


class PoolLabel(Closed):
    label_key: str
    label_value: str = ""


class PoolIn(PoolLabel):
    name: str
    cluster_id: UUID


class PoolListing(Parameters):
    cluster_id: UUID | None = None


@router.get("/node-pools", response=PoolList, by_alias=True)
def list_pools(request: ApiRequest, listing: Query[PoolListing]) -> PoolList:
    """Node pools of the clusters that you can see, the pool default included."""
    clusters = Cluster.objects.visible_to(request.user)
    if listing.cluster_id:
        clusters = clusters.filter(pk=listing.cluster_id)
    rows = [PoolOut.of(cluster, row) for cluster in clusters for row in pool_rows(cluster)]
    return PoolList(nodepools=rows)


@router.post("/node-pools", response={201: PoolOut}, by_alias=True)
def create_pool(request: ApiRequest, body: PoolIn) -> Status[PoolOut]:
    """A pool of the nodes with this label."""
    cluster = cluster_of(request, body.cluster_id)
    values = body.model_dump(exclude={"cluster_id"})
    with judged(CANNOT):
        pool = pools.create_pool(cluster, by=request.user, **values)
    return Status(201, _out(pool))


@router.put("/node-pools/{pool_id}", response=PoolOut, by_alias=True)
def update_pool(request: ApiRequest, pool_id: int, body: PoolLabel) -> PoolOut:
    """Take the nodes with another label. The name stays."""
    pool = _pool(request, pool_id)
    with judged(CANNOT):
        pools.update_pool(pool, by=request.user, **body.model_dump())
    return _out(pool)


@router.delete("/node-pools/{pool_id}", response={204: None})
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
