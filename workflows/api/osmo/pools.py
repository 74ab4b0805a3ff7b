"""REST as in OSMO: pools, with the GPUs that are used and free in each."""

from typing import Self

from ninja import Field, Query, Router, Schema

from accounts.api.tokens import ApiRequest
from workflows import pools
from workflows.pools import PoolUse

router = Router()
NO_LIMIT = -1


class PoolQuery(Schema):
    pools: list[str] = Field(default=[], max_length=100, description="Only these pools")
    all_pools: bool = Field(default=False, description="Has no effect: all are listed by default")


class ResourceUsage(Schema):
    quota_used: float = Field(description="GPUs that the project uses within its quota")
    quota_free: float = Field(description="GPUs of its quota that it does not use; -1: no quota")
    quota_limit: float = Field(description="GPUs of its quota; -1: it has none")
    total_usage: float = Field(description="All GPUs that the project uses")
    total_capacity: int = Field(description="GPUs of the cluster, which other pools may share")
    total_free: float = Field(description="GPUs of the cluster that nobody uses")

    @classmethod
    def of(cls, use: PoolUse) -> Self:
        limit = NO_LIMIT if use.limit is None else use.limit
        return cls(
            quota_used=use.used,
            quota_free=NO_LIMIT if use.limit is None else use.limit - use.used,
            quota_limit=limit,
            total_usage=use.usage,
            total_capacity=use.capacity,
            total_free=use.free,
        )


class OsmoPool(Schema):
    name: str = Field(description="The name of the pool")
    description: str = Field(description="What it is for")
    status: str = Field(description="ONLINE or OFFLINE: whether the cluster is connected")
    resource_usage: ResourceUsage = Field(description="Its GPUs")


class OsmoNodeSet(Schema):
    pools: list[OsmoPool] = Field(description="The pools, by name")


class OsmoPoolsOut(Schema):
    node_sets: list[OsmoNodeSet] = Field(description="One, with all pools")


@router.get(
    "/pool_quota",
    response=OsmoPoolsOut,
    operation_id="osmo_list_pools",
    url_name="osmo-pools",
)
def list_pools(request: ApiRequest, query: Query[PoolQuery]) -> OsmoPoolsOut:
    """Pools, and projects that are in none, with the GPUs that are used and free."""
    found = [
        OsmoPool(
            name=use.name,
            description=use.description,
            status="ONLINE" if use.is_online else "OFFLINE",
            resource_usage=ResourceUsage.of(use),
        )
        for use in pools.read_use(request.user, query.pools)
    ]
    return OsmoPoolsOut(node_sets=[OsmoNodeSet(pools=found)])
