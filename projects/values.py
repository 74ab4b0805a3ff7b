"""Typed values of the forms of projects and departments. The models validate them further."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from projects.ranks import ProjectRank
from spec.part import Flag, Number

GB = 1_000_000_000
LARGEST_QUOTA = 1e9  # in GB; more bytes would not fit into a column
Quota = Annotated[Number, Field(le=LARGEST_QUOTA)]


class DepartmentValues(BaseModel):
    """Memory in GB. A quota of ``None`` is none of its own."""

    model_config = ConfigDict(frozen=True)

    name: str = ""
    gpu_quota: Quota | None = None
    cpu_quota: Quota | None = None
    memory_quota: Quota | None = None
    over_quota: Flag = False

    def given(self) -> dict[str, Any]:
        """The values as the verbs take them, with memory in bytes."""
        memory = None if self.memory_quota is None else round(self.memory_quota * GB)
        return self.model_dump() | {"memory_quota": memory}


class ProjectValues(DepartmentValues):
    department: str = ""
    description: str = ""
    rank: ProjectRank = ProjectRank.MEDIUM_LOW
    default_node_pools: tuple[str, ...] = ()

    def given(self) -> dict[str, Any]:
        return super().given() | {"gpu_quota": self.gpu_quota or 0.0}
