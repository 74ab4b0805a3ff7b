"""REST as in OSMO: submit and restart workflows. A pool is a project, by its name."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema

from accounts.api.tokens import ApiRequest
from accounts.models import User
from core.rest.api import Issue, StrictBody, refusal_error
from spec.formats.lines import LONGEST
from workflows import services
from workflows.api.lookup import CANNOT, find_pool, find_workflow, translated_refusals
from workflows.api.schemas import LONGEST_SIZE, MOST_FILES, MOST_VARIABLES, FileText
from workflows.imports.reading import ReadWorkflow, read_workflow
from workflows.imports.templates import divide_pair, parse_settings
from workflows.models import Pool, Priority, Workflow
from workflows.reading import RestartChanges, WorkflowFile, file_of, read_file
from workflows.texts import mask_secrets

router = Router()
VALID = "Workflow validation succeeded."


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
    pool: str = Field(
        default="",
        description="After a dry run: the pool that the file names, if it is known (an extension)",
    )


@router.post(
    "/pool/{pool}/workflow",
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
            return _rendered_out(read_workflow(file.text, file.variables), request.user)
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


def _rendered_out(read: ReadWorkflow, by: User) -> SubmittedOut:
    pool = Pool.objects.visible_to(by).filter(name=read.workflow.pool).first()
    return SubmittedOut(
        name=read.workflow.name,
        spec=read.rendered,
        local_files=list(read.local_paths),
        pool=pool.name if pool else "",
    )


def _submitted_file(
    request: ApiRequest, body: OsmoSubmission, query: SubmissionQuery
) -> WorkflowFile:
    with _refused_at("set_variables"):
        variables = parse_settings(body.set_variables, body.set_string_variables)
    with _refused_at("env_vars"):
        environment = dict(map(divide_pair, query.env_vars))
    if not query.workflow_id:
        return WorkflowFile(body.file, body.files, variables, environment, body.task_size)
    earlier = find_workflow(request, query.workflow_id)
    return file_of(earlier, RestartChanges(variables, environment, body.task_size))


@contextmanager
def _refused_at(field: str) -> Iterator[None]:
    """Answer 400 for a value of a field that cannot be parsed."""
    try:
        yield
    except ValueError as error:
        raise refusal_error(CANNOT, [Issue(field=field, details=str(error))]) from error


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
    "/pool/{pool}/workflow/{workflow_id}/restart",
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
