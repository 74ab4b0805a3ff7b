"""REST: submit workflow files, follow, cancel, restart and delete workflows."""

from django.http import HttpResponse
from ninja import Field, Query, Router, Status

from accounts.api.tokens import ApiRequest
from core.rest.api import Pages, Parameters
from core.rest.filters import (
    DATE,
    ID,
    NUMBER,
    TEXT,
    Fields,
    Filtered,
    SortOrder,
    SortParameters,
    filter_queryset,
    sort_queryset,
)
from workflows import services
from workflows.api.lookup import find_project, find_workflow, translated_refusals
from workflows.api.schemas import (
    CancelIn,
    RestartIn,
    SearchedText,
    WorkflowIn,
    WorkflowList,
    WorkflowOut,
    WorkflowRow,
)
from workflows.models import Priority, Workflow
from workflows.output import LAST_LINES, LineChoice, last_lines
from workflows.reading import RestartChanges, WorkflowFile, read_file
from workflows.statuses import OF_WORKFLOWS

router = Router(tags=["Workflows"], by_alias=True)
FIELDS: Fields = {
    "id": ("id", ID),
    "label": ("label", TEXT),
    "name": ("name", TEXT),
    "status": ("status", {status.value: status.value for status in OF_WORKFLOWS}),
    "priority": ("priority", {word: word for word in Priority.values}),
    "projectId": ("project_id", NUMBER),
    "projectName": ("project__name", TEXT),
    "createdBy": ("created_by__username", TEXT),
    "createdAt": ("created_at", DATE),
}


class WorkflowListing(Pages, SortParameters, Filtered):
    """By default the newest come first."""

    sort_order: SortOrder = "desc"


class LogTail(Parameters):
    """Which lines to return."""

    tail: int = Field(default=LAST_LINES, ge=1, le=10_000, description="How many of the last lines")
    task: str = Field(default="", max_length=64, description="Only lines of this task")
    query: SearchedText = ""


@router.post("/workflows", response={202: WorkflowOut}, operation_id="create_workflow")
def create(request: ApiRequest, body: WorkflowIn) -> Status[WorkflowOut]:
    """Submit a workflow file. 400 lists every line that is wrong, such as ``file.13``, or else
    everything that a cluster, a policy or an asset refuses in a group."""
    project = find_project(request, body.project_id)
    file = WorkflowFile(
        body.file, body.files, body.variables, body.environment_variables, body.task_size
    )
    with translated_refusals():
        read = read_file(file, project=project, by=request.user)
        workflow = services.submit(
            read.graph,
            project=project,
            by=request.user,
            priority=body.priority,
            text=read.text,
        )
    return Status(202, WorkflowOut.of_runs(workflow, workflow.runs()))


@router.get("/workflows", response=WorkflowList, operation_id="list_workflows")
def list_workflows(request: ApiRequest, listing: Query[WorkflowListing]) -> WorkflowList:
    """Workflows of your projects, the newest first."""
    rows = Workflow.objects.visible_to(request.user).for_list()
    rows = filter_queryset(rows, listing.filter_by, FIELDS)
    if listing.search:
        rows = rows.filter(label__icontains=listing.search)
    page, following = listing.cut(sort_queryset(rows, listing, FIELDS))
    return WorkflowList(workflows=[WorkflowRow.of(row) for row in page], next=following)


@router.get("/workflows/{workflow_id}", response=WorkflowOut, operation_id="read_workflow")
def read(request: ApiRequest, workflow_id: str) -> WorkflowOut:
    """A workflow, by its ID or its label, with its groups and its file."""
    workflow = find_workflow(request, workflow_id)
    return WorkflowOut.of_runs(workflow, workflow.runs())


@router.get("/workflows/{workflow_id}/logs", operation_id="read_workflow_logs")
def read_logs(request: ApiRequest, workflow_id: str, query: Query[LogTail]) -> HttpResponse:
    """The last lines of all groups as text, merged by time. Each begins with its time and the name
    of its task."""
    workflow = find_workflow(request, workflow_id)
    choice = LineChoice(limit=query.tail, task=query.task, text=query.query)
    lines = last_lines(workflow.runs(), choice)
    text = "".join(f"{line.at:%Y-%m-%dT%H:%M:%S.%fZ} {line.task} {line.text}\n" for line in lines)
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@router.post(
    "/workflows/{workflow_id}/cancel", response=WorkflowRow, operation_id="cancel_workflow"
)
def cancel(
    request: ApiRequest,
    workflow_id: str,
    body: CancelIn | None = None,
) -> WorkflowRow:
    """Stop the groups that run, and start no others. 409 if it has ended."""
    workflow = find_workflow(request, workflow_id)
    with translated_refusals():
        services.cancel(workflow, by=request.user, message=body.message if body else "")
    return WorkflowRow.of(workflow)


@router.post(
    "/workflows/{workflow_id}/restart",
    response={202: WorkflowRow},
    operation_id="restart_workflow",
)
def restart(
    request: ApiRequest,
    workflow_id: str,
    body: RestartIn | None = None,
) -> Status[WorkflowRow]:
    """Run the groups that did not complete again, as a new workflow; a body changes what it was
    submitted with. 409 unless it failed, or if its file then has other groups."""
    workflow = find_workflow(request, workflow_id)
    given = body or RestartIn()
    changes = RestartChanges(given.variables, given.environment_variables, given.task_size)
    with translated_refusals():
        again = services.restart(workflow, by=request.user, changes=changes)
    return Status(202, WorkflowRow.of(again))


@router.delete("/workflows/{workflow_id}", response={204: None}, operation_id="delete_workflow")
def delete(request: ApiRequest, workflow_id: str) -> Status[None]:
    """Delete a workflow that has ended, and its workloads. 409 while it runs."""
    workflow = find_workflow(request, workflow_id)
    with translated_refusals():
        services.delete(workflow, by=request.user)
    return Status(204, None)
