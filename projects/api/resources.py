"""Quotas of projects and departments, as Run:ai's REST objects have them."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from clusters.models import DEFAULT_POOL
from core.rest.api import Issue, StrictBody, Wire
from projects.models import Department, Project
from projects.quotas import Demand, Quota
from spec.parts.scheduling import PriorityClass

UNITS = {"B": 1, "MB": 10**6, "MiB": 2**20, "GB": 10**9}
MAX_BYTES = 10**18  # in bytes more than this would not fit into a column, and nobody has it
ENTIRE_CLUSTER = "quotas are for entire clusters; leave it out, or give the default node pool"
ONE_LIMIT = "must be null, or equal to deserved where overQuota is false"
NO_WEIGHT = "must be null: resources over quota are not shared by weight"
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
    """Only the cluster's ``default``: node pools have no quotas of their own."""

    id: str = Field(default="", description="Can only be default")
    name: str | None = Field(default=None, description="The name")

    @property
    def is_default(self) -> bool:
        by_id = self.id.endswith(f"-{DEFAULT_POOL}") or self.id in {"", DEFAULT_POOL}
        return by_id and self.name in {None, "", DEFAULT_POOL}


class Deserved(StrictBody):
    """Null means no quota of its own. Without over quota ``limit`` equals ``deserved``, else it is
    null. ``overQuotaWeight`` is always null."""

    deserved: Amount | None = Field(default=None, description="The quota; null for no limit")
    limit: Amount | None = Field(
        default=None, description="The same as deserved if overQuota is false; else null"
    )
    over_quota_weight: Amount | None = Field(default=None, description="Run:ai's; can only be null")


class DeservedMemory(Deserved):
    """In bytes unless ``units`` says otherwise."""

    deserved: Annotated[float, Field(ge=0, le=MAX_BYTES, allow_inf_nan=False)] | None = Field(
        default=None, description="The quota; null for no limit"
    )
    limit: Annotated[float, Field(ge=0, le=MAX_BYTES, allow_inf_nan=False)] | None = Field(
        default=None, description="The same as deserved if overQuota is false; else null"
    )
    units: Unit = Field(default="B", description="The unit: MB, MiB or GB; bytes if it is null")

    def in_bytes(self) -> int | None:
        if self.deserved is None:
            return None
        return min(round(self.deserved * UNITS[self.units]), MAX_BYTES)


class OrgResources(StrictBody):
    """GPUs, CPU cores and memory of the entire cluster. ``priority`` is the rank of a project."""

    node_pool: PoolRef | None = Field(default=None, description="The name of the node pool")
    gpu: Deserved | None = Field(default=None, description="GPUs; a part of a GPU is a fraction")
    cpu: Deserved | None = Field(default=None, description="CPU, in cores")
    memory: DeservedMemory | None = Field(default=None, description="Memory, in bytes")
    priority: PriorityClass | None = Field(
        default=None,
        description="The rank of a project among those that wait; null for departments",
    )

    def service_values(self) -> dict[str, Any]:
        """Return the quotas that the request contains, by their names in the services."""
        quotas = {
            "gpu_quota": self.gpu and self.gpu.deserved,
            "cpu_quota": self.cpu and self.cpu.deserved,
            "memory_quota": self.memory and self.memory.in_bytes(),
        }
        return {
            key: quotas[key] for key in quotas if key.removesuffix("_quota") in self.present_fields
        }

    @property
    def present_fields(self) -> set[str]:
        return {name for name in self.model_fields_set if getattr(self, name) is not None}

    def unsupported_issues(self, *, over_quota: bool | None) -> list[Issue]:
        """Return the issues with values that Trainyard does not support."""
        issues = []
        if self.node_pool and not self.node_pool.is_default:
            issues.append(Issue(field="resources.0.nodePool", details=ENTIRE_CLUSTER))
        for name in ("gpu", "cpu", "memory"):
            deserved: Deserved | None = getattr(self, name)
            if deserved is None:
                continue
            if deserved.over_quota_weight is not None:
                field = f"resources.0.{name}.overQuotaWeight"
                issues.append(Issue(field=field, details=NO_WEIGHT))
            if deserved.limit is not None and (over_quota or deserved.limit != deserved.deserved):
                issues.append(Issue(field=f"resources.0.{name}.limit", details=ONE_LIMIT))
        return issues


class DeservedOut(Wire):
    deserved: float | None = Field(description="The quota; null for no limit")
    limit: float | None = Field(description="The same as deserved if overQuota is false; else null")
    over_quota_weight: None = Field(default=None, description="Run:ai's; can only be null")


class DeservedMemoryOut(DeservedOut):
    units: Literal["MB"] = Field(
        default="MB", description="The unit: MB, MiB or GB; bytes if it is null"
    )


class DefaultPoolOut(Wire):
    id: str = Field(default=DEFAULT_POOL, description="Its ID")
    name: str = Field(default=DEFAULT_POOL, description="The name")


class OrgResourcesOut(Wire):
    """The quotas in the form of a request. Null means no quota of its own. Only projects have
    ``priority``."""

    node_pool: DefaultPoolOut = Field(
        default=DefaultPoolOut(), description="The name of the node pool"
    )
    gpu: DeservedOut = Field(description="GPUs; a part of a GPU is a fraction")
    cpu: DeservedOut = Field(description="CPU, in cores")
    memory: DeservedMemoryOut = Field(description="Memory, in bytes")
    priority: PriorityClass | None = Field(
        description="The rank of a project among those that wait; null for departments"
    )

    @classmethod
    def from_owner(
        cls, owner: Project | Department, *, over_quota: bool, rank: PriorityClass | None
    ) -> "OrgResourcesOut":
        def bounds(amount: float | None) -> dict[str, Any]:
            return {"deserved": amount, "limit": None if over_quota else amount}

        memory = None if owner.memory_quota is None else owner.memory_quota / UNITS["MB"]
        return cls(
            gpu=DeservedOut(**bounds(owner.gpu_quota)),
            cpu=DeservedOut(**bounds(owner.cpu_quota)),
            memory=DeservedMemoryOut(**bounds(memory)),
            priority=rank,
        )


class TotalResources(Wire):
    """The quotas over all node pools: GPUs, CPU cores, and memory in MB."""

    gpu_quota: float = Field(description="The quota of GPUs; null for no limit")
    cpu_quota: float | None = Field(description="The CPU quota in cores; null for no limit")
    memory_quota: float | None = Field(description="The quota of memory; null for no limit")

    @classmethod
    def from_quota(cls, quota: Quota) -> "TotalResources":
        memory = None if quota.memory is None else quota.memory / UNITS["MB"]
        return cls(gpu_quota=quota.gpus or 0, cpu_quota=quota.cpu, memory_quota=memory)


SingleResources = Annotated[list[OrgResources], Field(max_length=1)]


def quota_amounts(quota: Quota, usage: Demand, *, over_quota: bool) -> dict[str, QuotaOut]:
    """Return quota and usage of ``gpu``, ``cpu`` and ``memory``."""

    def amount(deserved: float | None, allocated: float) -> QuotaOut:
        limit = None if over_quota else deserved
        return QuotaOut(deserved=deserved, limit=limit, allocated=allocated)

    return {
        "gpu": amount(quota.gpus, usage.gpus),
        "cpu": amount(quota.cpu, usage.cpu),
        "memory": amount(quota.memory, usage.memory),
    }
