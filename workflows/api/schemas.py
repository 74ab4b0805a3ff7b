"""The bodies and answers of our calls about workflows."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from ninja import Field
from pydantic import StringConstraints

from core.rest.api import NextOffset, StrictBody, Wire, enum_schema
from spec.formats.lines import LONGEST
from workflows.models import GroupRun, Priority, Workflow
from workflows.output import LONGEST_QUERY
from workflows.shown import ShownGroup, show_groups
from workflows.statuses import OF_WORKFLOWS, Status
from workflows.texts import mask_secrets, mask_variables
from workloads.api.words import ProjectId

LONGEST_FILE = 250_000  # characters
MOST_FILES = 100
MOST_VARIABLES = 200
LONGEST_SIZE = 200  # characters
ONE_LINE = r"^[^\r\n]*$"
FileText = Annotated[str, StringConstraints(max_length=LONGEST_FILE)]
SearchedText = Annotated[
    str,
    Field(
        max_length=LONGEST_QUERY,
        pattern=ONE_LINE,
        description="Only lines with this text, in any case",
    ),
]
StatusWord = Annotated[str, enum_schema(*OF_WORKFLOWS)]


class RestartIn(StrictBody):
    """What changes when a workflow runs again. What is not given stays as it was submitted."""

    variables: dict[str, str | int | float] = Field(
        default_factory=dict,
        max_length=MOST_VARIABLES,
        description="Variables of the template; they win over default-values",
    )
    environment_variables: dict[str, str] = Field(
        default_factory=dict,
        max_length=MOST_VARIABLES,
        description="Environment variables of every task; they win over those of the file",
    )
    task_size: str = Field(
        default="",
        max_length=LONGEST_SIZE,
        description="The size of all tasks, such as processes=2 gpus=0 cpu=1 memory=2G, in place "
        "of what the file says",
    )


class WorkflowIn(RestartIn):
    """A workflow file of OSMO, with the local files that it names."""

    project_id: ProjectId = Field(description="The ID of the project")
    file: str = Field(min_length=1, max_length=LONGEST, description="The workflow file, in YAML")
    files: dict[str, FileText] = Field(
        default_factory=dict,
        max_length=MOST_FILES,
        description="The contents of local files, by the paths that the workflow file names",
    )
    priority: Priority = Field(default=Priority.NORMAL, description="HIGH, NORMAL or LOW")


class CancelIn(StrictBody):
    message: str = Field(default="", description="Why; the page of the workflow shows it")


class ReportLine(Wire):
    line: int = Field(description="The line of the file; 0 stands for the entire file")
    label: str = Field(description="Mapped, Ignored, or Differs from OSMO")
    text: str = Field(description="What became of it")


class TaskOut(Wire):
    name: str = Field(description="The name of the task")
    pod: str = Field(description="The pod of the workload that runs it, such as worker-0")


class GroupOut(Wire):
    name: str = Field(description="The name of the group, or of its only task")
    status: Annotated[str, enum_schema(*Status)] = Field(description="Its status")
    upstream: list[str] = Field(description="The groups that it waits for")
    tasks: list[TaskOut] = Field(description="Its tasks")
    cause: str = Field(description="Why it failed, or what it waits for; empty if nothing is known")
    workload_id: UUID | None = Field(description="The ID of its workload; null before it starts")
    workload_name: str = Field(description="The name of its workload; empty before it starts")
    started_at: datetime | None = Field(description="When it began to run")
    completed_at: datetime | None = Field(description="When it ended")

    @classmethod
    def of(cls, group: ShownGroup) -> Self:
        workload = group.workload
        return cls(
            name=group.name,
            status=group.status,
            upstream=list(group.upstream),
            tasks=[TaskOut(name=task.name, pod=task.pod) for task in group.tasks],
            cause=group.cause,
            workload_id=workload.pk if workload else None,
            workload_name=workload.name if workload else "",
            started_at=group.started_at,
            completed_at=group.completed_at,
        )


class WorkflowRow(Wire):
    id: UUID = Field(description="Its ID")
    label: str = Field(description="Its name and number, such as train-3")
    name: str = Field(description="Its name")
    status: StatusWord = Field(description="Its status, in OSMO's words")
    priority: str = Field(description="HIGH, NORMAL or LOW")
    project_id: str = Field(description="The ID of the project")
    project_name: str = Field(description="The name of the project")
    created_by: str = Field(description="Who submitted it")
    created_at: datetime = Field(description="When it was submitted")
    started_at: datetime | None = Field(description="When its first group began to run")
    completed_at: datetime | None = Field(description="When it ended")
    message: str = Field(description="Why it was canceled; empty unless someone said so")

    @classmethod
    def values_of(cls, workflow: Workflow) -> dict[str, Any]:
        return {
            "id": workflow.pk,
            "label": workflow.label,
            "name": workflow.name,
            "status": workflow.status,
            "priority": workflow.priority,
            "project_id": str(workflow.project_id),
            "project_name": workflow.project.name,
            "created_by": workflow.created_by.username if workflow.created_by else "",
            "created_at": workflow.created_at,
            "started_at": workflow.started_at,
            "completed_at": workflow.completed_at,
            "message": workflow.message,
        }

    @classmethod
    def of(cls, workflow: Workflow) -> Self:
        return cls(**cls.values_of(workflow))


class WorkflowOut(WorkflowRow):
    """Values of variables that look secret are shown as ``***``."""

    restarted_from: str = Field(description="The label of the workflow that it restarts")
    groups: list[GroupOut] = Field(description="Its groups")
    report: list[ReportLine] = Field(description="What became of the lines of the file")
    rendered: str = Field(description="The file without variables")
    original: str = Field(description="The file as it was submitted")
    variables: dict[str, Any] = Field(description="The variables that were set")

    @classmethod
    def of_runs(cls, workflow: Workflow, runs: list[GroupRun]) -> Self:
        return cls(
            **cls.values_of(workflow),
            restarted_from=str(workflow.restarted_from or ""),
            groups=[GroupOut.of(group) for group in show_groups(runs)],
            report=[ReportLine.model_validate(row) for row in workflow.report_json],
            rendered=mask_secrets(workflow.rendered),
            original=mask_secrets(workflow.original),
            variables=mask_variables(workflow.variables_json),
        )


class WorkflowList(Wire):
    workflows: list[WorkflowRow] = Field(description="The workflows, the newest first")
    next: NextOffset
