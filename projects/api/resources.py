"""Quotas of projects and departments per node pool, as Run:ai's REST objects have them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from clusters.models import Cluster
from core.rest.api import Issue, StrictBody, Wire
from projects.models import Department, Project
from projects.pool_quotas import (
    MAX_WEIGHT,
    MIN_WEIGHT,
    DepartmentQuotaColumns,
    ProjectQuotaColumns,
    pool_names,
    quota_row,
)
from projects.quotas import Demand, Quota
from spec.parts.scheduling import DEFAULT_POOL, PriorityClass

UNITS = {"B": 1, "MB": 10**6, "MiB": 2**20, "GB": 10**9}
MAX_BYTES = 10**18  # in bytes more than this would not fit into a column, and nobody has it
NO_SUCH_POOL = "the cluster has no such node pool"
TWICE = "the node pool {} is in the list already"
QUOTA_IS_LIMIT = "must be null, or equal to deserved: over-quota is off in this node pool"
LESS_THAN_QUOTA = "must be at least deserved"
ONLY_GPU_LIMIT = "must be null, or equal to deserved where over-quota is off: only gpu has a limit"
ONE_WEIGHT = "must be null: the weight of gpu is that of the node pool"
WEIGHT_RANGE = f"must be 0, which turns over-quota off, or {MIN_WEIGHT:g} to {MAX_WEIGHT}"
CONTRADICTION = "contradicts overQuota, which is that of the default node pool"
#: The columns of which a request says nothing although it replaces all quotas.
BLANK_OF_DEPARTMENT = dict.fromkeys(("gpu_quota", "cpu_quota", "memory_quota", "gpu_limit"))
BLANK_OF_PROJECT = {**BLANK_OF_DEPARTMENT, "gpu_quota": 0.0}
Amount = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
#: Run:ai spells one of them in two ways.
Unit = Annotated[
    Literal["B", "MB", "MiB", "GB"],
    BeforeValidator(lambda it: "MiB" if it == "Mib" else it),
    WithJsonSchema({"type": "string", "enum": list(UNITS)}),
]


class QuotaOut(Wire):
    """``deserved`` is the quota, and ``limit`` is never exceeded. Null means unlimited."""

    deserved: float | None = Field(description="The quota; null for no limit")
    limit: float | None = Field(description="What it can never exceed; null for no limit")
    allocated: float = Field(description="What workloads use now")


class PoolRef(StrictBody):
    """A node pool by its name, its ID or both."""

    id: str = Field(default="", description="The ID of the node pool")
    name: str | None = Field(default=None, description="The name")

    def find(self, cluster: Cluster) -> str | None:
        """Return the name of the pool; ``None`` if the cluster has no such pool."""
        names = {str(pool.pk): pool.name for pool in cluster.pools.all()}
        names |= {DEFAULT_POOL: DEFAULT_POOL, f"{cluster.pk}-{DEFAULT_POOL}": DEFAULT_POOL}
        found = names.get(self.id) if self.id else self.name or DEFAULT_POOL
        is_known = found in names.values() and self.name in {None, "", found}
        return found if is_known else None


class Deserved(StrictBody):
    """Null means no quota of its own."""

    deserved: Amount | None = Field(default=None, description="The quota; null for no limit")
    limit: Amount | None = Field(
        default=None, description="The same as deserved if over-quota is off; else null"
    )
    over_quota_weight: Amount | None = Field(default=None, description="Run:ai's; can only be null")

    def problems(self, *, over_quota: bool) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with it in a pool with or without over-quota: field and reason."""
        if self.over_quota_weight is not None:
            yield "overQuotaWeight", ONE_WEIGHT
        if self.limit is not None and (over_quota or self.limit != self.deserved):
            yield "limit", ONLY_GPU_LIMIT


class DeservedGpus(Deserved):
    """``limit`` is never exceeded. ``overQuotaWeight`` is that of the node pool, for its CPU and
    memory too."""

    limit: Amount | None = Field(
        default=None, description="The most GPUs that can be allocated; null for no limit"
    )
    over_quota_weight: Amount | None = Field(
        default=None,
        description="The share of what others leave idle, compared with the weights of others; 0 "
        "turns over-quota off, null changes nothing",
    )

    def problems(self, *, over_quota: bool) -> Iterator[tuple[str, str]]:
        if self.over_quota_weight and not MIN_WEIGHT <= self.over_quota_weight <= MAX_WEIGHT:
            yield "overQuotaWeight", WEIGHT_RANGE
        if self.limit is None:
            return
        if not over_quota and self.limit != self.deserved:
            yield "limit", QUOTA_IS_LIMIT
        elif self.limit < (self.deserved or 0):
            yield "limit", LESS_THAN_QUOTA


class DeservedMemory(Deserved):
    """In bytes unless ``units`` says otherwise."""

    deserved: Annotated[float, Field(ge=0, le=MAX_BYTES, allow_inf_nan=False)] | None = Field(
        default=None, description="The quota; null for no limit"
    )
    limit: Annotated[float, Field(ge=0, le=MAX_BYTES, allow_inf_nan=False)] | None = Field(
        default=None, description="The same as deserved if over-quota is off; else null"
    )
    units: Unit = Field(default="B", description="The unit: MB, MiB or GB; bytes if it is null")

    def in_bytes(self) -> int | None:
        if self.deserved is None:
            return None
        return min(round(self.deserved * UNITS[self.units]), MAX_BYTES)


class OrgResources(StrictBody):
    """GPUs, CPU cores and memory of one node pool. ``priority`` is the rank of a project."""

    node_pool: PoolRef | None = Field(
        default=None, description="The node pool; the default one if it is null"
    )
    gpu: DeservedGpus | None = Field(
        default=None, description="GPUs; a part of a GPU is a fraction"
    )
    cpu: Deserved | None = Field(default=None, description="CPU, in cores")
    memory: DeservedMemory | None = Field(default=None, description="Memory, in bytes")
    priority: PriorityClass | None = Field(
        default=None,
        description="The rank of a project among those that wait; null for departments",
    )

    def find_pool(self, cluster: Cluster) -> str | None:
        """Return the name of its node pool; ``None`` if the cluster has no such pool."""
        return self.node_pool.find(cluster) if self.node_pool else DEFAULT_POOL

    @property
    def over_quota(self) -> bool | None:
        """Whether it turns over-quota on or off; ``None`` if it says nothing about that."""
        weight = self.gpu.over_quota_weight if self.gpu else None
        return None if weight is None else weight > 0

    def columns(self, *, over_quota: bool) -> dict[str, Any]:
        """Return what the request contains, by the columns of a quota."""
        values: dict[str, Any] = {}
        if self.gpu:
            values["gpu_quota"] = self.gpu.deserved
            values["gpu_limit"] = self.gpu.limit if over_quota else None
            if self.gpu.over_quota_weight is not None:
                values["over_quota"] = over_quota
            if self.gpu.over_quota_weight:
                values["over_quota_weight"] = self.gpu.over_quota_weight
        if self.cpu:
            values["cpu_quota"] = self.cpu.deserved
        if self.memory:
            values["memory_quota"] = self.memory.in_bytes()
        if self.priority:
            values["rank"] = self.priority
        return values

    def problems(self, *, over_quota: bool) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with it in a pool with or without over-quota: path and reason."""
        parts = {"gpu": self.gpu, "cpu": self.cpu, "memory": self.memory}
        for name, part in parts.items():
            for field, text in part.problems(over_quota=over_quota) if part else ():
                yield f"{name}.{field}", text


def read_resources(
    resources: Sequence[OrgResources],
    cluster: Cluster,
    *,
    over_quota: bool | None,
    current: Mapping[str, bool],
    blank: Mapping[str, Any] | None,
) -> tuple[dict[str, dict[str, Any]], list[Issue]]:
    """Return the quotas in a request by node pool and column, and the issues with them.

    ``over_quota`` is what the request itself says about the default pool, and ``current`` says for
    each pool whether over-quota is on now. For a request that replaces all quotas, ``blank`` has
    the columns of those that it does not contain.
    """
    quotas: dict[str, dict[str, Any]] = {}
    # Whether over-quota is on in a pool whose item in the request does not say that.
    unless_stated = dict(current)
    if blank is not None:
        quotas = {pool: {**blank, "over_quota": True} for pool in current}
        quotas[DEFAULT_POOL] = dict(blank)
        unless_stated = dict.fromkeys(current, True)
    unless_stated[DEFAULT_POOL] = current[DEFAULT_POOL] if over_quota is None else over_quota
    issues: list[Issue] = []
    pools = [item.find_pool(cluster) for item in resources]
    for number, (item, pool) in enumerate(zip(resources, pools, strict=True)):
        path = f"resources.{number}"
        if pool is None or pool in pools[:number]:
            details = TWICE.format(pool) if pool else NO_SUCH_POOL
            issues.append(Issue(field=f"{path}.nodePool", details=details))
            continue
        is_stated = pool == DEFAULT_POOL and over_quota is not None
        if is_stated and item.over_quota not in {None, over_quota}:
            issues.append(Issue(field=f"{path}.gpu.overQuotaWeight", details=CONTRADICTION))
            continue
        allowed = unless_stated[pool] if item.over_quota is None else item.over_quota
        issues += [
            Issue(field=f"{path}.{field}", details=text)
            for field, text in item.problems(over_quota=allowed)
        ]
        quotas.setdefault(pool, {}).update(item.columns(over_quota=allowed))
    return quotas, issues


def take_default_pool(quotas: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Move the quota in the default pool from ``quotas`` to where the services expect it: its
    columns by their names, except those that are only in ``pool_quotas``."""
    default = quotas.pop(DEFAULT_POOL, {})
    more = {key: default.pop(key) for key in ("gpu_limit", "over_quota_weight") if key in default}
    return default | {"pool_quotas": {**quotas, DEFAULT_POOL: more}}


class DeservedOut(Wire):
    deserved: float | None = Field(description="The quota; null for no limit")
    limit: float | None = Field(description="The same as deserved if over-quota is off; else null")
    over_quota_weight: None = Field(default=None, description="Run:ai's; can only be null")


class DeservedGpusOut(Wire):
    deserved: float | None = Field(description="The quota; null for no limit")
    limit: float | None = Field(
        description="The most GPUs that can be allocated; null for no limit"
    )
    over_quota_weight: float | None = Field(
        description="The share of what others leave idle; 0 if over-quota is off, null for the sum "
        "of a department's projects"
    )


class DeservedMemoryOut(DeservedOut):
    units: Literal["MB"] = Field(
        default="MB", description="The unit: MB, MiB or GB; bytes if it is null"
    )


class PoolRefOut(Wire):
    id: str = Field(description="Its ID")
    name: str = Field(description="The name")


class OrgResourcesOut(Wire):
    """The quotas in one node pool, in the form of a request. Null means no quota of its own. Only
    projects have ``priority``."""

    node_pool: PoolRefOut = Field(description="The node pool")
    gpu: DeservedGpusOut = Field(description="GPUs; a part of a GPU is a fraction")
    cpu: DeservedOut = Field(description="CPU, in cores")
    memory: DeservedMemoryOut = Field(description="Memory, in MB")
    priority: PriorityClass | None = Field(
        description="The rank of a project among those that wait; null for departments"
    )

    @classmethod
    def from_row(
        cls, pool: PoolRefOut, row: ProjectQuotaColumns | DepartmentQuotaColumns
    ) -> "OrgResourcesOut":
        def bounds(amount: float | None) -> dict[str, Any]:
            return {"deserved": amount, "limit": None if row.over_quota else amount}

        memory = None if row.memory_quota is None else row.memory_quota / UNITS["MB"]
        return cls(
            node_pool=pool,
            gpu=DeservedGpusOut(
                deserved=row.gpu_quota,
                limit=row.gpu_limit if row.over_quota else row.gpu_quota,
                over_quota_weight=row.over_quota_weight if row.over_quota else 0,
            ),
            cpu=DeservedOut(**bounds(row.cpu_quota)),
            memory=DeservedMemoryOut(**bounds(memory)),
            priority=PriorityClass(row.rank) if isinstance(row, ProjectQuotaColumns) else None,
        )


def resources_of(owner: Project | Department) -> list[OrgResourcesOut]:
    """Return the quotas of a project or department in each node pool of its cluster."""
    return [
        OrgResourcesOut.from_row(pool, quota_row(owner, pool.name))
        for pool in pool_refs(owner.cluster)
    ]


def pool_refs(cluster: Cluster) -> list[PoolRefOut]:
    """Return the node pools of a cluster, the default one first."""
    others = [PoolRefOut(id=str(pool.pk), name=pool.name) for pool in cluster.pools.all()]
    return [PoolRefOut(id=DEFAULT_POOL, name=DEFAULT_POOL), *others]


def over_quota_by_pool(cluster: Cluster, owner: Project | Department | None) -> dict[str, bool]:
    """Return by the name of the node pool whether over-quota is on, as it is for a new owner."""
    if owner is None:
        return dict.fromkeys(pool_names(cluster), True)
    return {pool: quota_row(owner, pool).over_quota for pool in pool_names(cluster)}


class TotalResources(Wire):
    """The quotas over all node pools: GPUs, CPU cores, and memory in MB."""

    gpu_quota: float = Field(description="The quota of GPUs; null for no limit")
    cpu_quota: float | None = Field(description="The CPU quota in cores; null for no limit")
    memory_quota: float | None = Field(description="The quota of memory; null for no limit")

    @classmethod
    def from_quota(cls, quota: Quota) -> "TotalResources":
        memory = None if quota.memory is None else quota.memory / UNITS["MB"]
        return cls(gpu_quota=quota.gpus or 0, cpu_quota=quota.cpu, memory_quota=memory)


def quota_amounts(quota: Quota, limit: Quota, usage: Demand) -> dict[str, QuotaOut]:
    """Return quota, limit and usage of ``gpu``, ``cpu`` and ``memory``."""
    rows = {
        "gpu": (quota.gpus, limit.gpus, usage.gpus),
        "cpu": (quota.cpu, limit.cpu, usage.cpu),
        "memory": (quota.memory, limit.memory, usage.memory),
    }
    return {
        name: QuotaOut(deserved=deserved, limit=most, allocated=allocated)
        for name, (deserved, most, allocated) in rows.items()
    }
