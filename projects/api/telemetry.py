"""REST: the quotas of projects and departments, and what they use now."""

from collections.abc import Callable, Iterable
from uuid import UUID

from ninja import Field, Query, Router

from accounts import access
from accounts.api.tokens import ApiRequest
from core.rest.api import Parameters, translate_errors
from core.rest.measures import Key, Names, Telemetry, check_groups, refuse_unmeasured, sum_telemetry
from projects.departments import DepartmentShare, shares_of
from projects.models import Department, Project
from projects.quotas import Demand, Quota, total_quota, usage_of

router = Router(tags=["Projects"])

#: Run:ai's metrics: GPUs, CPU in cores, memory in bytes.
QUOTAS: dict[str, Callable[[Quota], float | None]] = {
    "GPU_QUOTA": lambda quota: quota.gpus,
    "CPU_QUOTA": lambda quota: quota.cpu,
    "MEMORY_QUOTA": lambda quota: quota.memory,
}
ALLOCATIONS: dict[str, Callable[[Demand], float]] = {
    "GPU_ALLOCATION": lambda held: held.gpus,
    "CPU_ALLOCATION": lambda held: held.cpu,
    "MEMORY_ALLOCATION": lambda held: held.memory,
}
METRICS = (*QUOTAS, *ALLOCATIONS)
GROUPS = ("ClusterId", "DepartmentId", "ProjectId")


class OrgTelemetryQuery(Parameters):
    telemetry_type: str = Field(description=f"One of {', '.join(METRICS)}")
    cluster_id: UUID | None = Field(default=None, description="Only those of this cluster")
    department_id: int | None = Field(default=None, description="Only those of this department")
    group_by: Names = Field(default=[], description=f"At most two of {', '.join(GROUPS)}")

    def check(self, groups: Iterable[str]) -> None:
        refuse_unmeasured([self.telemetry_type], METRICS)
        check_groups(self.group_by, [*groups])

    def number(self, quota: Quota, usage: Demand) -> float | None:
        name = self.telemetry_type
        return QUOTAS[name](quota) if name in QUOTAS else ALLOCATIONS[name](usage)


@router.get(
    "/org-unit/projects/telemetry",
    response=Telemetry,
    by_alias=True,
    operation_id="read_projects_telemetry",
)
def projects_telemetry(request: ApiRequest, asked: Query[OrgTelemetryQuery]) -> Telemetry:
    """The sum over the projects that you can see, or one for each group. Unlimited quotas are left
    out."""
    asked.check(GROUPS)
    rows = Project.objects.visible_to(request.user).for_list()
    if asked.cluster_id:
        rows = rows.filter(cluster=asked.cluster_id)
    if asked.department_id is not None:
        rows = rows.filter(department=asked.department_id)
    projects = list(rows)
    usage = usage_of(projects)
    measurements = (
        (_project_keys(asked.group_by, it), asked.number(total_quota(it), usage[it.pk].demand))
        for it in projects
    )
    return sum_telemetry(asked.telemetry_type, measurements)


@router.get(
    "/org-unit/departments/telemetry",
    response=Telemetry,
    by_alias=True,
    operation_id="read_departments_telemetry",
)
def departments_telemetry(request: ApiRequest, asked: Query[OrgTelemetryQuery]) -> Telemetry:
    """The sum over all departments, or one for each group, which cannot be ``ProjectId``. Unlimited
    quotas are left out."""
    with translate_errors("The departments cannot be read."):
        access.require_anywhere(request.user, "departments.read")
    asked.check(GROUPS[:2])
    rows = Department.objects.visible_to(request.user).select_related("cluster")
    if asked.cluster_id:
        rows = rows.filter(cluster=asked.cluster_id)
    if asked.department_id is not None:
        rows = rows.filter(pk=asked.department_id)
    measurements = (
        (_department_keys(asked.group_by, it), asked.number(it.quota, it.usage))
        for it in shares_of(list(rows))
    )
    return sum_telemetry(asked.telemetry_type, measurements)


def _project_keys(groups: Iterable[str], project: Project) -> list[Key]:
    labels = {
        "ClusterId": (str(project.cluster_id), project.cluster.name),
        "DepartmentId": (str(project.department_id), project.department.name),
        "ProjectId": (str(project.pk), project.name),
    }
    return [(name, *labels[name]) for name in groups]


def _department_keys(groups: Iterable[str], share: DepartmentShare) -> list[Key]:
    department = share.department
    labels = {
        "ClusterId": (str(department.cluster_id), department.cluster.name),
        "DepartmentId": (str(department.pk), department.name),
    }
    return [(name, *labels[name]) for name in groups]
