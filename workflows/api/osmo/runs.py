"""REST as in OSMO: list, read and cancel workflows."""

from datetime import datetime
from typing import Any, Self

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema

from accounts.api.tokens import ApiRequest
from core.rest.api import Parameters
from workflows import services
from workflows.api.lookup import find_workflow, translated_refusals
from workflows.models import GroupRun, Priority, Workflow
from workflows.shown import current_status
from workflows.statuses import OF_WORKFLOWS

router = Router()
MOST_LISTED = 1000


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


@router.get(
    "/workflow",
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
    "/workflow/{workflow_id}",
    response=OsmoWorkflowOut,
    operation_id="osmo_read_workflow",
    url_name="osmo-read",
)
def read(request: ApiRequest, workflow_id: str, query: Query[OsmoQuery]) -> OsmoWorkflowOut:
    """One workflow with its groups and tasks."""
    answer = OsmoWorkflowOut.of(find_workflow(request, workflow_id), request)
    return answer.model_copy(update={"groups": []}) if query.skip_groups else answer


@router.post(
    "/workflow/{workflow_id}/cancel",
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
