"""REST: the projects that the caller may see, with their quotas and what they use."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db.models import Q
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
    NUMBER,
    TEXT,
    Fields,
    Filtered,
    SortBy,
    SortParameters,
    filter_queryset,
    sort_queryset,
)
from core.web.query import parse_number
from projects import services
from projects.api import org_units
from projects.api.resources import (
    BLANK_OF_PROJECT,
    OrgResources,
    OrgResourcesOut,
    QuotaOut,
    TotalResources,
    over_quota_by_pool,
    pool_refs,
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
from projects.members import member_names, researchers_of
from projects.models import Department, Project, ProjectQuerySet
from projects.quotas import Usage, total_limit, total_quota, usage_of
from spec.parts.scheduling import PriorityClass

router = Router(tags=["Projects"])
REFUSED = "The project cannot be saved."
FIELDS: Fields = {
    **org_units.FIELDS,
    "departmentId": ("department_id", NUMBER),
    "parentId": ("department_id", NUMBER),
    "parentName": ("department__name", TEXT),
}


class ParentRef(Wire):
    id: str = Field(description="Its ID")
    name: str = Field(description="The name")
    type: Literal["department"] = Field(default="department", description="Its type")


class AllocatedOut(Wire):
    gpu: float = Field(description="GPUs; a part of a GPU is a fraction")
    cpu: float = Field(description="CPU, in cores")
    memory: int = Field(description="Memory, in bytes")


class QuotaStatusOut(Wire):
    node_pool_id: str = Field(description="The ID of the node pool")
    node_pool_name: str = Field(description="The name of the node pool")
    allocated: AllocatedOut = Field(description="What workloads use there now")


class ProjectStatus(Wire):
    phase: Literal["Ready"] = Field(default="Ready", description="The phase it is in")
    quota_statuses: list[QuotaStatusOut] = Field(description="The usage in each node pool")

    @classmethod
    def of(cls, project: Project, usage: Usage) -> "ProjectStatus":
        statuses = []
        for pool in pool_refs(project.cluster):
            held = usage.in_pool(pool.name)
            allocated = AllocatedOut(gpu=held.gpus, cpu=held.cpu, memory=held.memory)
            statuses.append(
                QuotaStatusOut(node_pool_id=pool.id, node_pool_name=pool.name, allocated=allocated)
            )
        return cls(quota_statuses=statuses)


class ProjectOut(RulesOut):
    """``resources`` are as in a request. ``gpu``, ``cpu`` and ``memory`` are the sums over all node
    pools, with what workloads hold, CPU in cores and memory in bytes."""

    id: str = Field(description="Its ID")
    name: str = Field(description="The name")
    description: str = Field(description="A description for people")
    cluster_id: UUID = Field(description="The ID of the cluster")
    parent_id: str = Field(
        description="The ID of the department; the default one if it is left out"
    )
    parent: ParentRef = Field(description="The department it belongs to")
    department_name: str = Field(description="The name of the department")
    over_quota: bool = Field(description="Whether more than the quota may be used while it is idle")
    rank: PriorityClass = Field(description="Its rank among the projects that wait")
    default_node_pools: list[str] = Field(
        description="Names of node pools, the best first, for workloads that name none"
    )
    default_queue: str = Field(
        description="The LocalQueue of Kueue for workloads that name no queue; empty without one"
    )
    members: list[str] = Field(description="Usernames")
    resources: list[OrgResourcesOut] = Field(description="The quotas in each node pool")
    total_resources: TotalResources = Field(description="All quotas together")
    status: ProjectStatus = Field(description="Its status")
    gpu: QuotaOut = Field(description="GPUs; a part of a GPU is a fraction")
    cpu: QuotaOut = Field(description="CPU, in cores")
    memory: QuotaOut = Field(description="Memory, in bytes")
    created_at: datetime = Field(description="When it was created")
    updated_at: datetime = Field(description="When it last changed")

    @classmethod
    def from_project(cls, project: Project, usage: Usage, members: list[str]) -> "ProjectOut":
        quota = total_quota(project)
        rank = PriorityClass(project.rank)
        department = project.department
        return cls(
            id=str(project.pk),
            name=project.name,
            description=project.description,
            cluster_id=project.cluster_id,
            parent_id=str(project.department_id),
            parent=ParentRef(id=str(department.pk), name=department.name),
            department_name=department.name,
            over_quota=project.over_quota,
            rank=rank,
            default_node_pools=project.default_node_pools,
            default_queue=project.default_queue,
            members=members,
            resources=resources_of(project),
            total_resources=TotalResources.from_quota(quota),
            status=ProjectStatus.of(project, usage),
            created_at=project.created_at,
            updated_at=project.updated_at,
            scheduling_rules=SchedulingRulesBody.of(project),
            node_types=NodeTypesBody.of(project),
            **quota_amounts(quota, total_limit(project), usage.demand),
        )


class ProjectList(Wire):
    projects: list[ProjectOut] = Field(description="The projects")
    next: NextOffset


class ProjectChange(RulesChange):
    """Missing fields do not change. ``parentId`` is the department. Run:ai's
    ``requestedNamespace`` can only be null, ``enforceRunaiScheduler`` true."""

    name: str | None = Field(default=None, description="The name")
    description: str | None = Field(default=None, description="A description for people")
    parent_id: str | None = Field(
        default=None, description="The ID of the department; the default one if it is left out"
    )
    over_quota: bool | None = Field(
        default=None, description="Whether more than the quota may be used while it is idle"
    )
    rank: PriorityClass | None = Field(
        default=None, description="Its rank among the projects that wait"
    )
    default_node_pools: list[str] | None = Field(
        default=None,
        description="Names of node pools, the best first, for workloads that name none",
    )
    default_queue: str | None = Field(
        default=None,
        description="The LocalQueue of Kueue for workloads that name no queue; empty for none",
    )
    members: Annotated[list[str] | None, Field(description="Usernames; all of them")] = None
    resources: list[OrgResources] | None = Field(
        default=None, description="The quotas per node pool; it replaces all of them"
    )
    requested_namespace: str | None = Field(default=None, description="Run:ai's; can only be null")
    enforce_runai_scheduler: bool | None = Field(
        default=None, description="Can only be true: Trainyard decides where its workloads run"
    )


class ProjectIn(ProjectChange):
    """Without ``parentId`` the project is in the department ``default``, which is created if the
    cluster has none."""

    name: str = Field(description="The name")
    cluster_id: UUID = Field(description="The ID of the cluster")


class ProjectNarrowing(Filtered):
    def rows(self, user: User) -> ProjectQuerySet:
        visible = Project.objects.visible_to(user).with_total_quota()
        rows = filter_queryset(visible, self.filter_by, FIELDS)
        matches = Q(name__icontains=self.search) | Q(department__name__icontains=self.search)
        return rows.filter(matches) if self.search else rows


class ProjectListing(Pages, SortParameters, ProjectNarrowing):
    sort_by: SortBy = "name"


@router.get("/org-unit/projects", response=ProjectList, by_alias=True)
def list_projects(request: ApiRequest, listing: Query[ProjectListing]) -> ProjectList:
    """The projects that you can see. ``filterBy`` and ``sortBy`` take ``name``, ``clusterId``,
    ``departmentId``, ``parentName``, ``totalGpuQuota`` and the times."""
    rows = sort_queryset(_with_related(listing.rows(request.user)), listing, FIELDS)
    page, following = listing.cut(rows)
    usage = usage_of(page)
    names = member_names(page)
    return ProjectList(
        projects=[
            ProjectOut.from_project(project, usage[project.pk], names[project.pk])
            for project in page
        ],
        next=following,
    )


@router.get("/org-unit/projects/count", response=Count, by_alias=True)
def count_projects(request: ApiRequest, narrowing: Query[ProjectNarrowing]) -> Count:
    """The number of projects that match the filters."""
    return Count(count=narrowing.rows(request.user).count())


@router.post("/org-unit/projects", response={201: ProjectOut}, by_alias=True)
def create_project(request: ApiRequest, body: ProjectIn) -> Status[ProjectOut]:
    """Create a project on a cluster. 400 lists every invalid field."""
    with translate_errors(REFUSED):
        access.require_anywhere(request.user, "projects.create")
    visible = Cluster.objects.visible_to(request.user)
    cluster = org_units.find_cluster(visible, body.cluster_id, REFUSED)
    values = _service_values(body, cluster)
    with translate_errors(REFUSED):
        project = services.create_project(by=request.user, cluster=cluster, **values)
    return Status(201, _project_out(project))


@router.get("/org-unit/projects/{int:project_id}", response=ProjectOut, by_alias=True)
def get_project(request: ApiRequest, project_id: int) -> ProjectOut:
    """One project, with its quota and what its workloads hold."""
    return _project_out(_find_project(request, project_id))


@router.put("/org-unit/projects/{int:project_id}", response=ProjectOut, by_alias=True)
def update_project(request: ApiRequest, project_id: int, body: ProjectChange) -> ProjectOut:
    """Change the given fields. A smaller quota does not end what runs."""
    return _update(request, project_id, body)


@router.put("/org-unit/projects/{int:project_id}/resources", response=ProjectOut, by_alias=True)
def replace_project_resources(
    request: ApiRequest, project_id: int, body: Body[list[OrgResources]]
) -> ProjectOut:
    """Replace all quotas. In node pools that are missing the project then deserves no GPUs, has no
    limits, and over-quota is on; over-quota stays as it is in the default one."""
    return _update(request, project_id, ProjectChange(resources=body))


@router.patch("/org-unit/projects/{int:project_id}/resources", response=ProjectOut, by_alias=True)
def change_project_resources(
    request: ApiRequest, project_id: int, body: Body[list[OrgResources]]
) -> ProjectOut:
    """Change the given quotas. Node pools and resources that are missing do not change."""
    return _update(request, project_id, ProjectChange(resources=body), replaces_all=False)


@router.delete("/org-unit/projects/{int:project_id}", response={204: None})
def delete_project(request: ApiRequest, project_id: int) -> Status[None]:
    """Delete a project with its assets, webhooks and deleted workloads. 409 while it has
    workloads."""
    project = _find_project(request, project_id)
    with translate_errors(REFUSED):
        services.delete_project(project, by=request.user)
    return Status(204, None)


def _update(
    request: ApiRequest, pk: int, body: ProjectChange, *, replaces_all: bool = True
) -> ProjectOut:
    project = _find_project(request, pk)
    with translate_errors(REFUSED):
        access.require(request.user, "projects.update", *project.scope_keys)
    current_values: dict[str, Any] = {
        "name": project.name,
        "department": project.department.name,
        "description": project.description,
        "gpu_quota": project.gpu_quota,
        "cpu_quota": project.cpu_quota,
        "memory_quota": project.memory_quota,
        "over_quota": project.over_quota,
        "members": list(researchers_of(project)),
    }
    changes = _service_values(body, project.cluster, replaces_all=replaces_all, project=project)
    with translate_errors(REFUSED):
        services.update_project(project, by=request.user, **current_values | changes)
    return _project_out(_find_project(request, pk))


def _service_values(
    body: ProjectChange,
    cluster: Cluster,
    *,
    replaces_all: bool = True,
    project: Project | None = None,
) -> dict[str, Any]:
    """The given values for the services. Raises ``ApiError`` 400 with every invalid one."""
    names = ("name", "description", "over_quota", "rank", "default_node_pools", "default_queue")
    values = {key: value for key in names if (value := getattr(body, key)) is not None}
    issues = _unsupported_issues(body)
    if body.parent_id is not None:
        department = _find_department(cluster, body.parent_id)
        values["department"] = department.name if department else ""
        if department is None:
            issues.append(Issue(field="parentId", details=f"{cluster} has no such department."))
    if body.members is not None:
        users_by_name = {
            it.username: it for it in User.objects.people().filter(username__in=body.members)
        }
        values["members"] = list(users_by_name.values())
        if unknown := sorted(set(body.members) - set(users_by_name)):
            unknown_names = ", ".join(name or "without a name" for name in unknown)
            issues.append(Issue(field="members", details=f"There is no user {unknown_names}."))
    if body.resources is not None:
        quotas, quota_issues = read_resources(
            body.resources,
            cluster,
            over_quota=body.over_quota,
            current=over_quota_by_pool(cluster, project),
            blank=BLANK_OF_PROJECT if replaces_all else None,
        )
        issues += quota_issues
        for columns in quotas.values():
            if columns.get("gpu_quota", 0.0) is None:
                columns["gpu_quota"] = 0.0
        values |= take_default_pool(quotas)
    org_units.raise_issues(REFUSED, issues)
    return values | {"rules": body.rule_values()}


def _unsupported_issues(body: ProjectChange) -> list[Issue]:
    values = {
        "requestedNamespace": body.requested_namespace,
        "enforceRunaiScheduler": body.enforce_runai_scheduler is False,
    }
    return org_units.unsupported_field_issues(values) + body.unsupported_rule_issues()


def _find_department(cluster: Cluster, pk: str) -> Department | None:
    number = parse_number(pk)
    return None if number is None else cluster.departments.filter(pk=number).first()


def _find_project(request: ApiRequest, pk: int) -> Project:
    project = _with_related(Project.objects.visible_to(request.user)).filter(pk=pk).first()
    if project is None:
        raise not_found("The project")
    return project


def _with_related(rows: ProjectQuerySet) -> ProjectQuerySet:
    return rows.for_list()


def _project_out(project: Project) -> ProjectOut:
    names = member_names([project])[project.pk]
    return ProjectOut.from_project(project, usage_of([project])[project.pk], names)
