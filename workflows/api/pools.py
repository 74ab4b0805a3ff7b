"""REST: the table of pools."""

from typing import Self

from ninja import Field, Query, Router, Status

from accounts import access
from accounts.api.tokens import ApiRequest
from core.rest.api import (
    Issue,
    StrictBody,
    Wire,
    not_found,
    refusal_error,
    translate_errors,
)
from core.rest.filters import TEXT, Fields
from core.rest.rows import WholeListing
from core.web.query import parse_number
from projects.models import Project
from workflows import pools
from workflows.models import Pool
from workloads.api.words import ProjectId

router = Router(tags=["Workflows"], by_alias=True)
FIELDS: Fields = {
    "name": ("name", TEXT),
    "projectName": ("project_name", TEXT),
    "description": ("description", TEXT),
}
CANNOT = "The pool cannot be saved."


class WorkflowPoolIn(StrictBody):
    project_id: ProjectId = Field(description="The ID of the project")
    description: str = Field(default="", max_length=200, description="What it is for")


class WorkflowPoolOut(Wire):
    name: str = Field(description="The name of the pool")
    project_id: str = Field(description="The ID of the project")
    project_name: str = Field(description="The name of the project")
    description: str = Field(description="What it is for; empty if nobody said")

    @classmethod
    def of(cls, pool: Pool) -> Self:
        return cls(
            name=pool.name,
            project_id=str(pool.project_id),
            project_name=pool.project.name,
            description=pool.description,
        )


class WorkflowPoolList(Wire):
    pools: list[WorkflowPoolOut] = Field(description="The pools, by name")


@router.get("/pools", response=WorkflowPoolList, operation_id="list_workflow_pools")
def list_pools(request: ApiRequest, listing: Query[WholeListing]) -> WorkflowPoolList:
    """The pools whose projects you can see."""
    rows = Pool.objects.visible_to(request.user).select_related("project")
    every = (WorkflowPoolOut.of(row) for row in rows)
    return WorkflowPoolList(pools=listing.select(every, FIELDS, "name", "project_name"))


@router.put("/pools/{pool}", response=WorkflowPoolOut, operation_id="save_workflow_pool")
def save(request: ApiRequest, pool: str, body: WorkflowPoolIn) -> WorkflowPoolOut:
    """Create a pool, or lead it to another project."""
    access.require(request.user, "settings.update")
    projects = Project.objects.open_to(request.user, "projects.read")
    pk = parse_number(body.project_id)
    project = None if pk is None else projects.filter(pk=pk).first()
    if project is None:
        issue = Issue(field="projectId", details="is not a project that you can see")
        raise refusal_error(CANNOT, [issue])
    with translate_errors(CANNOT):
        row = pools.save(pool, project=project, description=body.description, by=request.user)
    return WorkflowPoolOut.of(row)


@router.delete("/pools/{pool}", response={204: None}, operation_id="delete_workflow_pool")
def delete(request: ApiRequest, pool: str) -> Status[None]:
    """Delete a pool. Its project and the workflows there stay."""
    access.require(request.user, "settings.update")
    row = Pool.objects.filter(name=pool).first()
    if row is None:
        raise not_found("The pool")
    pools.delete(row, by=request.user)
    return Status(204, None)
