"""REST: departments, for administrators, with their quotas and what their projects use."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from ninja import Body, Field, Query, Router, Status

from accounts import access
from accounts.api.tokens import ApiRequest
from accounts.models import User
from clusters.models import Cluster
from core.rest.api import (
    Count,
    Issue,
    NextOffset,
    Pages,
    Wire,
    not_found,
)
from core.rest.filters import (
    Filtered,
    SortBy,
    SortParameters,
    filter_queryset,
    sort_queryset,
)
from projects import departments
from projects.api import org_units
from projects.api.resources import (
    BLANK_OF_DEPARTMENT,
    OrgResources,
    OrgResourcesOut,
    QuotaOut,
    TotalResources,
    over_quota_by_pool,
    quota_amounts,
    read_resources,
    resources_of,
    take_default_pool,
)
from projects.api.rules import (
    NodeTypesBody,
    RulesChange,
    RulesOut,
    SchedulingRulesBody,
    translate_errors,
)
from projects.departments import DepartmentShare, shares_of
from projects.models import Department
from projects.quotas import total_limit_of_department

router = Router(tags=["Departments"])
REFUSED = "The department cannot be saved."
COLUMNS = ("name", "over_quota", "gpu_quota", "cpu_quota", "memory_quota")


class DepartmentChange(RulesChange):
    """Missing fields do not change. Quotas that ``resources`` lacks are the sums of the projects'
    quotas. ``overQuota`` false caps the total of the projects in the default node pool. Run:ai's
    other fields can only be null."""

    name: str = Field(default="", description="The name")
    over_quota: bool = Field(
        default=True, description="Whether more than the quota may be used while it is idle"
    )
    resources: list[OrgResources] = Field(
        default=[], description="The quotas per node pool; it replaces all of them"
    )
    description: str | None = Field(default=None, description="A description for people")
    default_node_pools: list[str] | None = Field(
        default=None,
        description="Names of node pools, the best first, for workloads that name none",
    )
    overtime_data: dict[str, Any] | None = Field(
        default=None, description="Run:ai's; can only be null"
    )

    def unsupported_issues(self) -> list[Issue]:
        values = {
            "description": self.description,
            "defaultNodePools": self.default_node_pools,
            "overtimeData": self.overtime_data,
        }
        return [
            *org_units.unsupported_field_issues(values),
            *self.unsupported_rule_issues(),
        ]


class DepartmentIn(DepartmentChange):
    name: str = Field(description="The name")
    cluster_id: UUID = Field(description="The ID of the cluster")


class DepartmentOut(RulesOut):
    """``gpu``, ``cpu`` and ``memory`` are the effective quotas of all node pools together,
    ``resources`` the configured ones. ``warning`` is set if the projects' quotas sum to more than
    the department's."""

    id: str = Field(description="Its ID")
    name: str = Field(description="The name")
    cluster_id: UUID = Field(description="The ID of the cluster")
    over_quota: bool = Field(description="Whether more than the quota may be used while it is idle")
    gpu: QuotaOut = Field(description="GPUs; a part of a GPU is a fraction")
    cpu: QuotaOut = Field(description="CPU, in cores")
    memory: QuotaOut = Field(description="Memory, in bytes")
    resources: list[OrgResourcesOut] = Field(description="The quotas in each node pool")
    total_resources: TotalResources = Field(description="All quotas together")
    created_at: datetime = Field(description="When it was created")
    updated_at: datetime = Field(description="When it last changed")
    projects: int = Field(description="How many projects it has")
    projects_gpu_quota: float = Field(description="The GPU quotas of its projects together")
    warning: str = Field(description="What is wrong with its quota; empty if nothing")

    @classmethod
    def from_share(cls, share: DepartmentShare) -> "DepartmentOut":
        department = share.department
        limit = total_limit_of_department(department, share.projects)
        return cls(
            id=str(department.pk),
            name=department.name,
            cluster_id=department.cluster_id,
            over_quota=department.over_quota,
            resources=resources_of(department),
            total_resources=TotalResources.from_quota(share.quota),
            created_at=department.created_at,
            updated_at=department.updated_at,
            projects=len(share.projects),
            projects_gpu_quota=share.gpus_of_projects,
            warning=share.warning,
            scheduling_rules=SchedulingRulesBody.of(department),
            node_types=NodeTypesBody.of(department),
            **quota_amounts(share.quota, limit, share.usage),
        )


class DepartmentList(Wire):
    departments: list[DepartmentOut] = Field(description="The departments")
    next: NextOffset


class DepartmentNarrowing(Filtered):
    def rows(self, user: User) -> QuerySet[Department]:
        visible = Department.objects.visible_to(user)
        rows = filter_queryset(visible.with_total_quota(), self.filter_by, org_units.FIELDS)
        return rows.filter(name__icontains=self.search) if self.search else rows


class DepartmentListing(Pages, SortParameters, DepartmentNarrowing):
    sort_by: SortBy = "name"


@router.get("/org-unit/departments", response=DepartmentList, by_alias=True)
def list_departments(request: ApiRequest, listing: Query[DepartmentListing]) -> DepartmentList:
    """All departments. ``filterBy`` and ``sortBy`` take ``name``, ``clusterId``,
    ``totalGpuQuota`` and the times."""
    _require(request, "departments.read")
    page, following = listing.cut(
        sort_queryset(listing.rows(request.user), listing, org_units.FIELDS)
    )
    departments_out = [DepartmentOut.from_share(share) for share in shares_of(page)]
    return DepartmentList(departments=departments_out, next=following)


@router.get("/org-unit/departments/count", response=Count, by_alias=True)
def count_departments(request: ApiRequest, narrowing: Query[DepartmentNarrowing]) -> Count:
    """The number of departments that match the filters."""
    _require(request, "departments.read")
    return Count(count=narrowing.rows(request.user).count())


@router.post("/org-unit/departments", response={201: DepartmentOut}, by_alias=True)
def create_department(request: ApiRequest, body: DepartmentIn) -> Status[DepartmentOut]:
    """Create a department on a cluster. It has no projects yet; new projects choose their
    department."""
    _require(request, "departments.create")
    cluster = org_units.find_cluster(
        Cluster.objects.visible_to(request.user), body.cluster_id, REFUSED
    )
    values = _service_values(body, cluster)
    with translate_errors(REFUSED):
        department = departments.create_department(by=request.user, cluster=cluster, **values)
    return Status(201, _department_out(department))


@router.get("/org-unit/departments/{int:department_id}", response=DepartmentOut, by_alias=True)
def get_department(request: ApiRequest, department_id: int) -> DepartmentOut:
    """One department, with its quota and what its projects hold."""
    return _department_out(_find_department(request, department_id))


@router.put("/org-unit/departments/{int:department_id}", response=DepartmentOut, by_alias=True)
def update_department(
    request: ApiRequest, department_id: int, body: DepartmentChange
) -> DepartmentOut:
    """Change the given fields: the name, whether it may go over its quota, its quotas, its
    scheduling rules."""
    return _update(request, department_id, body)


@router.delete("/org-unit/departments/{int:department_id}", response={204: None})
def delete_department(request: ApiRequest, department_id: int) -> Status[None]:
    """Delete a department with its assets and webhooks. 409 while it has projects."""
    department = _find_department(request, department_id)
    with translate_errors(REFUSED):
        departments.delete_department(department, by=request.user)
    return Status(204, None)


@router.put(
    "/org-unit/departments/{int:department_id}/resources", response=DepartmentOut, by_alias=True
)
def replace_department_resources(
    request: ApiRequest, department_id: int, body: Body[list[OrgResources]]
) -> DepartmentOut:
    """Replace all quotas: a missing one becomes the sum of its projects' quotas. In node pools that
    are missing there are no limits, and over-quota is on; over-quota stays as it is in the default
    one."""
    return _update(request, department_id, DepartmentChange(resources=body))


@router.patch(
    "/org-unit/departments/{int:department_id}/resources", response=DepartmentOut, by_alias=True
)
def change_department_resources(
    request: ApiRequest, department_id: int, body: Body[list[OrgResources]]
) -> DepartmentOut:
    """Change the given quotas: a missing one does not change, nor does a missing node pool."""
    change = DepartmentChange(resources=body)
    return _update(request, department_id, change, replaces_all=False)


def _service_values(
    body: DepartmentChange,
    cluster: Cluster,
    department: Department | None = None,
    *,
    replaces_all: bool = True,
) -> dict[str, Any]:
    """Return the given values for the services. Raises ``ApiError`` 400 with every invalid one."""
    values = {key: getattr(body, key) for key in body.model_fields_set & {"name", "over_quota"}}
    issues = body.unsupported_issues()
    if "resources" in body.model_fields_set:
        quotas, quota_issues = read_resources(
            body.resources,
            cluster,
            over_quota=values.get("over_quota"),
            current=over_quota_by_pool(cluster, department),
            blank=BLANK_OF_DEPARTMENT if replaces_all else None,
        )
        issues += quota_issues
        for columns in quotas.values():
            columns.pop("rank", None)
        values |= take_default_pool(quotas)
    org_units.raise_issues(REFUSED, issues)
    return values | {"rules": body.rule_values()}


def _update(
    request: ApiRequest, pk: int, body: DepartmentChange, *, replaces_all: bool = True
) -> DepartmentOut:
    department = _find_department(request, pk)
    current_values = {key: getattr(department, key) for key in COLUMNS}
    changes = _service_values(body, department.cluster, department, replaces_all=replaces_all)
    with translate_errors(REFUSED):
        departments.update_department(department, by=request.user, **current_values | changes)
    return _department_out(department)


def _find_department(request: ApiRequest, pk: int) -> Department:
    _require(request, "departments.read")
    visible = Department.objects.visible_to(request.user)
    department = visible.select_related("cluster").filter(pk=pk).first()
    if department is None:
        raise not_found("The department")
    return department


def _require(request: ApiRequest, action: str) -> None:
    with translate_errors(REFUSED):
        access.require_anywhere(request.user, action)


def _department_out(department: Department) -> DepartmentOut:
    (share,) = shares_of([department])
    return DepartmentOut.from_share(share)
