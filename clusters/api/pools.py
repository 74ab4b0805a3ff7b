"""REST: node pools, with Run:ai's names."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from ninja import Field, Query, Router, Status

from accounts.api.tokens import ApiRequest
from accounts.models import User
from clusters.api.clusters import find_cluster
from clusters.api.nodes import Amounts
from clusters.models import Cluster, NodePool
from clusters.nodes import pools
from clusters.nodes.rows import PoolRow, pool_rows
from core.rest.api import TENANT, Count, StrictBody, Wire, enum_schema, not_found, translate_errors
from core.rest.filters import DATE, ID, NUMBER, TEXT, Fields, Filtered, word_choices
from core.rest.rows import OptionalPages, OptionalSort, filter_objects, sort_objects
from engines.nodes import Allocation

router = Router(tags=["Nodes"])

REFUSED = "The node pool cannot be saved."
PHASES = ("Ready", "Empty", "Unschedulable")
FIELDS: Fields = {
    "name": ("name", TEXT),
    "clusterId": ("cluster_id", ID),
    "labelKey": ("label_key", TEXT),
    "labelValue": ("label_value", TEXT),
    "phase": ("phase", word_choices(PHASES)),
    "nodes": ("nodes", NUMBER),
    "createdAt": ("created_at", DATE),
    "updatedAt": ("updated_at", DATE),
}
ANY = "*"


class PoolOut(Wire):
    """The pool ``default`` has the label ``*``. It has all nodes that are in no other pool."""

    id: str = Field(description="Its ID")
    tenant_id: int = Field(default=TENANT, description="Always 1: there is one account")
    name: str = Field(description="The name")
    is_default: bool = Field(
        description="Whether it is the pool of all nodes that are in no other pool"
    )
    cluster_id: UUID = Field(description="The ID of the cluster")
    cluster_name: str = Field(description="The name of the cluster")
    label_key: str = Field(description="The key of the label that its nodes have")
    label_value: str = Field(description="The value of that label")
    over_provisioning_ratio: int = Field(default=1, description="Run:ai's; can only be 1 or null")
    created_by: str = Field(default="", description="The username of the person who created it")
    updated_by: str = Field(
        default="", description="The username of the person who last changed it"
    )
    phase: Annotated[str, enum_schema(*PHASES)] = Field(description="Ready, or why not")
    nodes: int = Field(description="How many nodes it has")
    allocatable: Amounts = Field(description="What workloads can use altogether")
    allocated: Amounts = Field(description="What workloads use now")
    created_at: datetime = Field(description="When it was created")
    updated_at: datetime = Field(description="When it last changed")

    @classmethod
    def of(cls, cluster: Cluster, row: PoolRow) -> "PoolOut":
        pool = row.pool
        held = row.allocation or Allocation(0.0, 0, 0.0)
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
            allocated=Amounts(gpu=held.gpus, cpu=held.cpu, memory=held.memory),
            created_at=pool.created_at if pool else cluster.created_at,
            updated_at=pool.updated_at if pool else cluster.created_at,
        )


class PoolList(Wire):
    nodepools: list[PoolOut] = Field(description="The node pools")


class PoolLabel(StrictBody):
    """Run:ai's other fields can only be what its client always sends: an ``overProvisioningRatio``
    of 1, ``Auto``, and null."""

    label_key: str = Field(description="The key of the label that its nodes have")
    label_value: str = Field(default="", description="The value of that label")
    over_provisioning_ratio: Literal[1] | None = Field(
        default=None, description="Run:ai's; can only be 1 or null"
    )
    gpu_network_acceleration_detection: Literal["Auto"] | None = Field(
        default=None, description="Run:ai's; can only be Auto or null"
    )
    gpu_network_acceleration_label_key: None = Field(
        default=None, description="Run:ai's; can only be null"
    )
    gpu_resource_optimization: None = Field(default=None, description="Run:ai's; can only be null")
    network_topology_id: None = Field(default=None, description="Run:ai's; can only be null")
    placement_strategy: None = Field(default=None, description="Run:ai's; can only be null")
    scheduling_configuration: None = Field(default=None, description="Run:ai's; can only be null")

    @property
    def label(self) -> dict[str, str]:
        return {"label_key": self.label_key, "label_value": self.label_value}


class PoolLabelChange(PoolLabel):
    label_key: str | None = Field(
        default=None, description="The key of the label that its nodes have"
    )  # type: ignore[assignment]  # missing ones do not change
    label_value: str | None = Field(default=None, description="The value of that label")  # type: ignore[assignment]

    @property
    def label(self) -> dict[str, str]:
        return {key: text for key, text in super().label.items() if text is not None}


class PoolIn(PoolLabel):
    name: str = Field(description="The name")
    cluster_id: UUID = Field(description="The ID of the cluster")


class PoolNarrowing(Filtered):
    cluster_id: UUID | None = Field(default=None, description="Only those of this cluster")
    name: str = Field(default="", description="Only the one with this name")

    def rows(self, user: User) -> list[PoolOut]:
        clusters = Cluster.objects.visible_to(user)
        if self.cluster_id:
            clusters = clusters.filter(pk=self.cluster_id)
        rows = [PoolOut.of(cluster, row) for cluster in clusters for row in pool_rows(cluster)]
        matches = [row for row in rows if self.name in {"", row.name}]
        return filter_objects(matches, self, FIELDS, "name")


class PoolListing(OptionalPages, OptionalSort, PoolNarrowing):
    pass


@router.get("/node-pools", response=PoolList, by_alias=True)
def list_pools(request: ApiRequest, listing: Query[PoolListing]) -> PoolList:
    """Node pools of the clusters that you can see, including the pools ``default``."""
    return PoolList(
        nodepools=listing.cut(sort_objects(listing.rows(request.user), listing, FIELDS))
    )


@router.get("/node-pools/count", response=Count, by_alias=True)
def count_pools(request: ApiRequest, narrowing: Query[PoolNarrowing]) -> Count:
    """The number of node pools that match the filters, including the pools ``default``."""
    return Count(count=len(narrowing.rows(request.user)))


@router.get("/node-pools/{int:pool_id}", response=PoolOut, by_alias=True)
def get_pool(request: ApiRequest, pool_id: int) -> PoolOut:
    """One node pool. A pool ``default`` is only in the list."""
    return _describe_pool(_find_pool(request, pool_id))


@router.post("/node-pools", response={201: PoolOut}, by_alias=True)
def create_pool(request: ApiRequest, body: PoolIn) -> Status[PoolOut]:
    """Create a pool of the nodes with a label."""
    cluster = find_cluster(request, body.cluster_id)
    with translate_errors(REFUSED):
        pool = pools.create_pool(cluster, by=request.user, name=body.name, **body.label)
    return Status(201, _describe_pool(pool))


@router.put("/node-pools/{int:pool_id}", response=PoolOut, by_alias=True)
def update_pool(request: ApiRequest, pool_id: int, body: PoolLabel) -> PoolOut:
    """Change the pool's label, and so its nodes. The name stays."""
    pool = _find_pool(request, pool_id)
    with translate_errors(REFUSED):
        pools.update_pool(pool, by=request.user, **body.label)
    return _describe_pool(pool)


@router.patch("/node-pools/{int:pool_id}", response=PoolOut, by_alias=True)
def change_pool(request: ApiRequest, pool_id: int, body: PoolLabelChange) -> PoolOut:
    """Change the key or the value of the pool's label, whichever is given."""
    pool = _find_pool(request, pool_id)
    label = {"label_key": pool.label_key, "label_value": pool.label_value} | body.label
    with translate_errors(REFUSED):
        pools.update_pool(pool, by=request.user, **label)
    return _describe_pool(pool)


@router.delete("/node-pools/{int:pool_id}", response={204: None})
def delete_pool(request: ApiRequest, pool_id: int) -> Status[None]:
    """Delete a pool. Its nodes move to the pool ``default``. 409 while workloads or projects use
    it."""
    pool = _find_pool(request, pool_id)
    with translate_errors(REFUSED):
        pools.delete_pool(pool, by=request.user)
    return Status(204, None)


def _describe_pool(pool: NodePool) -> PoolOut:
    rows = pool_rows(pool.cluster)
    return PoolOut.of(pool.cluster, next(row for row in rows if row.pool == pool))


def _find_pool(request: ApiRequest, pool_id: int) -> NodePool:
    visible = Cluster.objects.visible_to(request.user)
    pool = (
        NodePool.objects.select_related("cluster").filter(pk=pool_id, cluster__in=visible).first()
    )
    if pool is None:
        raise not_found("The node pool")
    return pool
