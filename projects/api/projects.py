"""REST: the projects that the caller may see, with their quota and what they hold."""

from datetime import datetime
from uuid import UUID

from ninja import Query, Router

from accounts.api import ApiRequest
from core.api import Pages, Wire, not_found
from projects.models import Project
from projects.quotas import Usage, usage_of

router = Router(tags=["Projects"])


class QuotaOut(Wire):
    """``deserved`` is the quota, ``limit`` is never exceeded; null means unlimited."""

    deserved: float | None
    limit: float | None
    allocated: float


class ProjectOut(Wire):
    id: str
    name: str
    description: str
    cluster_id: UUID
    parent_id: str
    department_name: str
    over_quota: bool
    rank: str
    default_node_pools: list[str]
    gpu: QuotaOut
    cpu: QuotaOut
    memory: QuotaOut
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, project: Project, usage: Usage) -> "ProjectOut":
        def quota(deserved: float | None, allocated: float) -> QuotaOut:
            limit = None if project.over_quota else deserved
            return QuotaOut(deserved=deserved, limit=limit, allocated=allocated)

        return cls(
            id=str(project.pk),
            name=project.name,
            description=project.description,
            cluster_id=project.cluster_id,
            parent_id=str(project.department_id),
            department_name=project.department.name,
            over_quota=project.over_quota,
            rank=project.rank,
            default_node_pools=project.default_node_pools,
            gpu=quota(project.gpu_quota, usage.held.gpus),
            cpu=quota(project.cpu_quota, usage.held.cpu),
            memory=quota(project.memory_quota, usage.held.memory),
            created_at=project.created_at,
            updated_at=project.updated_at,
        )


class ProjectList(Wire):
    projects: list[ProjectOut]
    next: int | None


@router.get("/org-unit/projects", response=ProjectList, by_alias=True)
def list_projects(request: ApiRequest, pages: Query[Pages]) -> ProjectList:
    visible = Project.objects.visible_to(request.user).for_list()
    page, following = pages.cut(visible)
    usage = usage_of(page)
    return ProjectList(
        projects=[ProjectOut.of(project, usage[project.pk]) for project in page], next=following
    )


@router.get("/org-unit/projects/{project_id}", response=ProjectOut, by_alias=True)
def get_project(request: ApiRequest, project_id: int) -> ProjectOut:
    visible = Project.objects.visible_to(request.user).for_list()
    project = visible.filter(pk=project_id).first()
    if project is None:
        raise not_found("The project")
    return ProjectOut.of(project, usage_of([project])[project.pk])
