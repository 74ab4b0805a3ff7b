"""REST under the paths of OSMO, with its words and shapes, as far as its command line uses them.

A pool is a project, by its name. The same calls are at OSMO's own paths, such as ``/api/workflow``.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Self

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema

from accounts.api.tokens import ApiRequest
from core.rest.api import Issue, Parameters, StrictBody, refusal_error
from spec.formats.lines import LONGEST
from workflows import services
from workflows.api.lookup import (
    CANNOT,
    find_pool,
    find_workflow,
    translated_refusals,
)
from workflows.api.schemas import LONGEST_SIZE, MOST_FILES, MOST_VARIABLES, FileText
from workflows.imports.reading import read_workflow
from workflows.imports.templates import parse_settings
from workflows.models import GroupRun, Priority, Workflow
from workflows.output import LAST_LINES, TaskLine, last_lines
from workflows.reading import WorkflowFile, read_file
from workflows.shown import current_status
from workflows.statuses import OF_WORKFLOWS
from workflows.texts import mask_secrets
from workloads.models import Event

router = Router(tags=["OSMO"])
ROOT = "/osmo"
MOST_LISTED = 1000
VALID = "Workflow validation succeeded."
DAY = "%Y/%m/%d %H:%M:%S"  # how OSMO writes the time of a line


class OsmoSubmission(StrictBody):
    """The body of a submission, with OSMO's names. ``files`` and ``task_size`` are extensions of
    Trainyard: OSMO's command line puts local files into the workflow file."""

    model_config = {**StrictBody.model_config, "alias_generator": None}

    file: str = Field(default="", max_length=LONGEST, description="The workflow file")
    set_variables: list[str] = Field(
        default_factory=list,
        max_length=MOST_VARIABLES,
        description="NAME=VALUE of the template; values that look like numbers are numbers",
    )
    set_string_variables: list[str] = Field(
        default_factory=list, max_length=MOST_VARIABLES, description="NAME=VALUE; all are text"
    )
    uploaded_templated_spec: str = Field(
        default="", max_length=LONGEST, description="Has no effect: a file is rendered once"
    )
    files: dict[str, FileText] = Field(
        default_factory=dict, max_length=MOST_FILES, description="Local files by their paths"
    )
    task_size: str = Field(
        default="",
        max_length=LONGEST_SIZE,
        description="The size of all tasks, such as processes=2 gpus=0 cpu=1 memory=2G",
    )


class SubmissionQuery(Schema):
    workflow_id: str = Field(default="", max_length=80, description="A workflow to submit again")
    dry_run: bool = Field(default=False, description="true: only render the file")
    validation_only: bool = Field(default=False, description="true: only check the file")
    priority: Priority = Field(default=Priority.NORMAL, description="HIGH, NORMAL or LOW")
    env_vars: list[str] = Field(
        default=[], max_length=MOST_VARIABLES, description="NAME=VALUE for every task"
    )
    app_uuid: str = Field(default="", max_length=80, description="Has no effect")
    app_version: str = Field(default="", max_length=80, description="Has no effect")


class SubmittedOut(Schema):
    name: str = Field(description="The ID of the workflow; its name after a dry run")
    overview: str = Field(
        default="", description="The address of its page; empty if nothing was submitted"
    )
    logs: str = Field(
        default="", description="The address of its logs, or the result of a validation"
    )
    spec: str = Field(description="The file without variables")
    dashboard_url: str = Field(default="", description="Always empty")
    warnings: list[str] = Field(
        default=[], description="What is left out of the file, or differs from OSMO"
    )
    local_files: list[str] = Field(
        default=[], description="After a dry run: the local files to send with it (an extension)"
    )


class OsmoListing(Parameters):
    model_config = {**Parameters.model_config, "alias_generator": None}

    users: list[str] = Field(default=[], max_length=100, description="Only those of these users")
    name: str = Field(default="", max_length=80, description="Only those whose ID contains this")
    statuses: list[str] = Field(default=[], max_length=40, description="Only with these statuses")
    offset: int = Field(default=0, ge=0, le=10**9, description="How many to skip")
    limit: int = Field(default=20, ge=1, le=MOST_LISTED, description="The most in the answer")
    order: str = Field(default="ASC", description="ASC or DESC, by the time of submission")
    all_users: bool = Field(default=False, description="true: not only your own")
    pools: list[str] = Field(default=[], max_length=100, description="Only in these projects")
    all_pools: bool = Field(default=False, description="Has no effect: all are listed by default")
    submitted_before: datetime | None = Field(default=None, description="Submitted before")
    submitted_after: datetime | None = Field(default=None, description="Submitted after")
    priority: list[Priority] = Field(default=[], max_length=3, description="Of these priorities")


class OsmoEntry(Schema):
    user: str = Field(description="Who submitted it")
    name: str = Field(description="The ID of the workflow, such as train-3")
    workflow_uuid: str = Field(description="Its ID in Trainyard")
    submit_time: datetime = Field(description="When it was submitted")
    start_time: datetime | None = Field(description="When its first group began to run")
    end_time: datetime | None = Field(description="When it ended")
    queued_time: float = Field(description="Seconds it waited")
    duration: float | None = Field(description="Seconds it ran; null before")
    status: str = Field(description="Its status")
    overview: str = Field(description="The address of its page")
    logs: str = Field(description="The address of its logs")
    pool: str = Field(description="The project")
    priority: str = Field(description="HIGH, NORMAL or LOW")

    @classmethod
    def values_of(cls, workflow: Workflow, request: HttpRequest) -> dict[str, Any]:
        page = request.build_absolute_uri(workflow.get_absolute_url())
        return {
            "user": workflow.created_by.username if workflow.created_by else "",
            "name": workflow.label,
            "workflow_uuid": str(workflow.pk),
            "submit_time": workflow.created_at,
            "start_time": workflow.started_at,
            "end_time": workflow.completed_at,
            "queued_time": workflow.queued_seconds,
            "duration": workflow.seconds,
            "status": workflow.status,
            "overview": page,
            "logs": f"{page}logs/",
            "pool": workflow.project.name,
            "priority": workflow.priority,
        }


class OsmoList(Schema):
    workflows: list[OsmoEntry] = Field(description="The workflows, by default the newest last")
    more_entries: bool = Field(description="Whether there are more")


class OsmoTaskOut(Schema):
    name: str = Field(description="The name of the task")
    retry_id: int = Field(description="How often its group was started again")
    status: str = Field(description="The status of its group")
    failure_message: str = Field(description="Why it failed; empty unless it did")
    exit_code: int | None = Field(description="Its exit code; null before it ends")
    lead: bool = Field(description="Whether the group ends with it")
    node_name: str = Field(description="The node that it runs on; empty if unknown")
    start_time: datetime | None = Field(description="When it began to run")
    end_time: datetime | None = Field(description="When it ended")


class OsmoGroupOut(Schema):
    name: str = Field(description="The name of the group")
    status: str = Field(description="Its status")
    start_time: datetime | None = Field(description="When it began to run")
    end_time: datetime | None = Field(description="When it ended")
    scheduling_start_time: datetime | None = Field(description="When its turn came")
    remaining_upstream_groups: list[str] = Field(description="Groups that it still waits for")
    downstream_groups: list[str] = Field(description="Groups that wait for it")
    failure_message: str = Field(description="Why it failed; empty unless it did")
    tasks: list[OsmoTaskOut] = Field(description="Its tasks")


class OsmoWorkflowOut(OsmoEntry):
    submitted_by: str = Field(description="Who submitted it")
    cancelled_by: str = Field(description="Who canceled it; empty unless someone did")
    spec: str = Field(description="The address of its file")
    parent_name: str = Field(description="The workflow that it restarts; empty without one")
    groups: list[OsmoGroupOut] = Field(description="Its groups")

    @classmethod
    def of(cls, workflow: Workflow, request: HttpRequest) -> Self:
        runs = workflow.runs()
        values = cls.values_of(workflow, request)
        return cls(
            **values,
            submitted_by=values["user"],
            cancelled_by=workflow.canceled_by.username if workflow.canceled_by else "",
            spec=f"{values['overview']}file/",
            parent_name=str(workflow.restarted_from or ""),
            groups=[_group_out(run, runs) for run in runs],
        )


class OsmoQuery(Schema):
    verbose: bool = Field(default=False, description="Has no effect: retries are always included")
    skip_groups: bool = Field(default=False, description="true: without groups")


class OsmoCancel(Schema):
    message: str = Field(default="", max_length=500, description="Why")
    force: bool = Field(default=False, description="Has no effect")


class CanceledOut(Schema):
    name: str = Field(description="The ID of the workflow")


class OsmoLogQuery(Schema):
    last_n_lines: int = Field(
        default=LAST_LINES, ge=1, le=10_000, description="How many of the last lines"
    )
    task_name: str = Field(default="", max_length=64, description="Only lines of this task")
    retry_id: int | None = Field(default=None, ge=0, description="Only of this start of its group")


class SpecQuery(Schema):
    use_template: bool = Field(default=False, description="true: the file as it was submitted")


def _group_out(run: GroupRun, runs: list[GroupRun]) -> OsmoGroupOut:
    definition = run.definition
    unfinished = {it.name for it in runs if not it.is_finished}
    ranks = {rank.role: rank for rank in run.workload.ranks.all()} if run.workload else {}
    only_rank = next(iter(ranks.values()), None)
    status = current_status(run)
    tasks = []
    for task in definition.tasks:
        rank = ranks.get(task.role, only_rank if not task.role else None)
        tasks.append(
            OsmoTaskOut(
                name=task.name,
                retry_id=run.retries,
                status=status,
                failure_message=run.failure,
                exit_code=rank.exit_code if rank else None,
                lead=task.leads,
                node_name=rank.node if rank else "",
                start_time=rank.started_at if rank else None,
                end_time=rank.finished_at if rank else None,
            )
        )
    return OsmoGroupOut(
        name=run.name,
        status=status,
        start_time=run.started_at,
        end_time=run.completed_at,
        scheduling_start_time=run.scheduled_at,
        remaining_upstream_groups=[it for it in definition.upstream if it in unfinished],
        downstream_groups=[it.name for it in runs if run.name in it.definition.upstream],
        failure_message=run.failure,
        tasks=tasks,
    )


@router.post(
    f"{ROOT}/pool/{{pool}}/workflow",
    response=SubmittedOut,
    operation_id="osmo_submit_workflow",
    url_name="osmo-submit",
)
def submit(
    request: ApiRequest, pool: str, body: OsmoSubmission, query: Query[SubmissionQuery]
) -> SubmittedOut:
    """Submit a workflow file to a pool, which is a project by its name, or submit the file of an
    earlier workflow again."""
    project = find_pool(request, pool)
    with translated_refusals():
        file = _submitted_file(request, body, query)
        if query.dry_run:
            rendered = read_workflow(file.text, file.variables)
            return SubmittedOut(
                name=rendered.workflow.name,
                spec=rendered.rendered,
                local_files=list(rendered.local_paths),
            )
        read = read_file(file, project=project, by=request.user)
        warnings = [
            f"line {row['line']}: {row['text']}"
            for row in read.text.report
            if row["tone"] != "success"
        ]
        if query.validation_only:
            services.check(read.graph, project=project, by=request.user, priority=query.priority)
            return SubmittedOut(
                name=read.graph.name, logs=VALID, spec=read.text.rendered, warnings=warnings
            )
        workflow = services.submit(
            read.graph,
            project=project,
            by=request.user,
            priority=query.priority,
            text=read.text,
        )
    return _submitted_out(workflow, request, warnings)


def _submitted_file(
    request: ApiRequest, body: OsmoSubmission, query: SubmissionQuery
) -> WorkflowFile:
    with _refused_at("set_variables"):
        variables = parse_settings(body.set_variables, body.set_string_variables)
    with _refused_at("env_vars"):
        environment = dict(map(_divide, query.env_vars))
    if not query.workflow_id:
        return WorkflowFile(body.file, body.files, variables, environment, body.task_size)
    earlier = find_workflow(request, query.workflow_id)
    return WorkflowFile(
        earlier.original,
        earlier.files_json,
        {**earlier.variables_json, **variables},
        environment,
        body.task_size,
    )


@contextmanager
def _refused_at(field: str) -> Iterator[None]:
    """Answer 400 for a value of a field that cannot be parsed."""
    try:
        yield
    except ValueError as error:
        raise refusal_error(CANNOT, [Issue(field=field, details=str(error))]) from error


def _divide(pair: str) -> tuple[str, str]:
    name, equals, value = pair.partition("=")
    if not (name and equals):
        raise ValueError(f"{pair!r} is not NAME=VALUE")
    return name, value


def _submitted_out(workflow: Workflow, request: HttpRequest, warnings: list[str]) -> SubmittedOut:
    page = request.build_absolute_uri(workflow.get_absolute_url())
    return SubmittedOut(
        name=workflow.label,
        overview=page,
        logs=f"{page}logs/",
        spec=mask_secrets(workflow.rendered),
        warnings=warnings,
    )


@router.post(
    f"{ROOT}/pool/{{pool}}/workflow/{{workflow_id}}/restart",
    response=SubmittedOut,
    operation_id="osmo_restart_workflow",
    url_name="osmo-restart",
)
def restart(request: ApiRequest, pool: str, workflow_id: str) -> SubmittedOut:
    """Restart a failed workflow from the groups that did not complete, in its own project."""
    workflow = find_workflow(request, workflow_id)
    with translated_refusals():
        again = services.restart(workflow, by=request.user)
    return _submitted_out(again, request, [])


@router.get(
    f"{ROOT}/workflow",
    response=OsmoList,
    operation_id="osmo_list_workflows",
    url_name="osmo-list",
)
def list_workflows(request: ApiRequest, query: Query[OsmoListing]) -> OsmoList:
    """Your own workflows, or those of all users, as OSMO lists them: the newest ones, the oldest of
    them first."""
    rows = Workflow.objects.visible_to(request.user).for_list()
    if query.users:
        rows = rows.filter(created_by__username__in=query.users)
    elif not query.all_users:
        rows = rows.filter(created_by=request.user)
    if query.name:
        rows = rows.filter(label__icontains=query.name)
    if query.statuses:
        rows = rows.filter(status__in=set(query.statuses) & set(OF_WORKFLOWS))
    if query.pools:
        rows = rows.filter(project__name__in=query.pools)
    if query.priority:
        rows = rows.filter(priority__in=query.priority)
    if query.submitted_before:
        rows = rows.filter(created_at__lt=query.submitted_before)
    if query.submitted_after:
        rows = rows.filter(created_at__gte=query.submitted_after)
    window = list(rows[query.offset : query.offset + query.limit + 1])
    page = window[: query.limit]
    if query.order.upper() == "ASC":
        page.reverse()
    entries = [OsmoEntry(**OsmoEntry.values_of(row, request)) for row in page]
    return OsmoList(workflows=entries, more_entries=len(window) > query.limit)


@router.get(
    f"{ROOT}/workflow/{{workflow_id}}",
    response=OsmoWorkflowOut,
    operation_id="osmo_read_workflow",
    url_name="osmo-read",
)
def read(request: ApiRequest, workflow_id: str, query: Query[OsmoQuery]) -> OsmoWorkflowOut:
    """One workflow with its groups and tasks."""
    answer = OsmoWorkflowOut.of(find_workflow(request, workflow_id), request)
    return answer.model_copy(update={"groups": []}) if query.skip_groups else answer


@router.post(
    f"{ROOT}/workflow/{{workflow_id}}/cancel",
    response=CanceledOut,
    operation_id="osmo_cancel_workflow",
    url_name="osmo-cancel",
)
def cancel(request: ApiRequest, workflow_id: str, query: Query[OsmoCancel]) -> CanceledOut:
    """Cancel a workflow. 409 if it has ended."""
    workflow = find_workflow(request, workflow_id)
    with translated_refusals():
        services.cancel(workflow, by=request.user, message=query.message)
    return CanceledOut(name=workflow.label)


@router.get(
    f"{ROOT}/workflow/{{workflow_id}}/logs", operation_id="osmo_workflow_logs", url_name="osmo-logs"
)
def read_logs(request: ApiRequest, workflow_id: str, query: Query[OsmoLogQuery]) -> HttpResponse:
    """The last lines of all tasks, as OSMO writes them."""
    workflow = find_workflow(request, workflow_id)
    lines = last_lines(
        workflow.runs(), limit=query.last_n_lines, task=query.task_name, retry=query.retry_id
    )
    return _text_response(map(_line_text, lines))


def _line_text(line: TaskLine) -> str:
    start = f"{line.task} retry-{line.retry}" if line.retry else line.task
    return f"{line.at.strftime(DAY)} [{start}] {line.text}"


@router.get(
    f"{ROOT}/workflow/{{workflow_id}}/events",
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


@router.get(
    f"{ROOT}/workflow/{{workflow_id}}/spec", operation_id="osmo_workflow_spec", url_name="osmo-spec"
)
def read_spec(request: ApiRequest, workflow_id: str, query: Query[SpecQuery]) -> HttpResponse:
    """The file without variables, or as it was submitted."""
    workflow = find_workflow(request, workflow_id)
    text = workflow.original if query.use_template else workflow.rendered
    return _text_response(mask_secrets(text).splitlines())


def _text_response(lines: Iterable[str]) -> HttpResponse:
    text = "".join(f"{line}\n" for line in lines)
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
