"""REST as in OSMO: the logs, events and files of workflows, as text."""

from collections.abc import Iterable

from django.http import HttpResponse
from ninja import Field, Query, Router, Schema

from accounts.api.tokens import ApiRequest
from workflows.api.lookup import find_workflow
from workflows.api.schemas import SearchedText
from workflows.output import LAST_LINES, LineChoice, TaskLine, last_lines
from workflows.texts import mask_secrets
from workloads.models import Event

router = Router()
DAY = "%Y/%m/%d %H:%M:%S"  # how OSMO writes the time of a line


class OsmoLogQuery(Schema):
    last_n_lines: int = Field(
        default=LAST_LINES, ge=1, le=10_000, description="How many of the last lines"
    )
    task_name: str = Field(default="", max_length=64, description="Only lines of this task")
    query: SearchedText = ""
    retry_id: int | None = Field(default=None, ge=0, description="Only of this start of its group")


class SpecQuery(Schema):
    use_template: bool = Field(default=False, description="true: the file as it was submitted")


@router.get("/workflow/{workflow_id}/logs", operation_id="osmo_workflow_logs", url_name="osmo-logs")
def read_logs(request: ApiRequest, workflow_id: str, query: Query[OsmoLogQuery]) -> HttpResponse:
    """The last lines of all tasks, as OSMO writes them."""
    workflow = find_workflow(request, workflow_id)
    choice = LineChoice(
        limit=query.last_n_lines, task=query.task_name, retry=query.retry_id, text=query.query
    )
    lines = last_lines(workflow.runs(), choice)
    return _text_response(map(_line_text, lines))


def _line_text(line: TaskLine) -> str:
    start = f"{line.task} retry-{line.retry}" if line.retry else line.task
    return f"{line.at.strftime(DAY)} [{start}] {line.text}"


@router.get(
    "/workflow/{workflow_id}/events",
    operation_id="osmo_workflow_events",
    url_name="osmo-events",
)
def read_events(request: ApiRequest, workflow_id: str) -> HttpResponse:
    """The events of all workloads of a workflow, the oldest first."""
    runs = find_workflow(request, workflow_id).runs()
    labels = {run.workload_id: run.definition.label for run in runs if run.workload_id}
    events = Event.objects.filter(workload__in=labels).order_by("at", "pk")
    return _text_response(
        f"{event.at.strftime(DAY)} [{labels[event.workload_id]}] {event} {event.message}".rstrip()
        for event in events
    )


@router.get("/workflow/{workflow_id}/spec", operation_id="osmo_workflow_spec", url_name="osmo-spec")
def read_spec(request: ApiRequest, workflow_id: str, query: Query[SpecQuery]) -> HttpResponse:
    """The file without variables, or as it was submitted."""
    workflow = find_workflow(request, workflow_id)
    text = workflow.original if query.use_template else workflow.rendered
    return _text_response(mask_secrets(text).splitlines())


def _text_response(lines: Iterable[str]) -> HttpResponse:
    text = "".join(f"{line}\n" for line in lines)
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
