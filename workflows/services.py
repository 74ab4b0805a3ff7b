"""What people can do with workflows. Each verb is a function: a transaction, an entry in the audit
log, then the task."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction

from accounts import access
from accounts.models import User
from assets.datasets import services as datasets
from audit import services as audit
from core.broker.enqueue import PERIODIC, send_once
from core.deletion import InUse
from core.storage import require_space
from projects.models import Project
from spec.problems.errors import SpecError
from workflows import running
from workflows.graph import WorkflowGraph, WorkflowGroup, WorkflowTask
from workflows.models import GroupRun, Priority, Workflow, WorkflowNumber
from workflows.reading import NO_CHANGES, RestartChanges, file_of, read_file
from workflows.starting import find_problems
from workflows.statuses import UNFINISHED, Status
from workflows.texts import WorkflowText
from workloads import services as workloads
from workloads.history.events import ADVANCE
from workloads.models import Workload
from workloads.services import NotPossible

CANCELED = "The workflow was canceled."


def submit(
    graph: WorkflowGraph,
    *,
    project: Project,
    by: User,
    priority: str = Priority.NORMAL,
    text: WorkflowText | None = None,
    restarted_from: Workflow | None = None,
    pk: UUID | None = None,
) -> Workflow:
    """Create a workflow and start the groups that need no others. ``SpecError`` has every problem
    of every group, and then nothing is created.

    It is idempotent by ``pk``, an id that only this person's form has: a double click submits once.
    """
    if pk and (earlier := Workflow.objects.filter(pk=pk).first()):
        return earlier
    check(graph, project=project, by=by, priority=priority)
    require_space()
    text = text or WorkflowText()
    try:
        with transaction.atomic():
            workflow = Workflow.objects.create(
                pk=pk or uuid4(),
                label=f"{graph.name}-{WorkflowNumber.take_next(graph.name)}",
                name=graph.name,
                project=project,
                created_by=by,
                priority=priority,
                original=text.original,
                rendered=text.rendered,
                files_json=dict(text.files),
                variables_json=dict(text.variables),
                environment_json=dict(text.environment),
                task_size=text.task_size,
                report_json=list(text.report),
                restarted_from=restarted_from,
            )
            GroupRun.objects.bulk_create(
                GroupRun(
                    workflow=workflow,
                    position=position,
                    name=group.name,
                    definition_json=group.model_dump(mode="json"),
                )
                for position, group in enumerate(graph.groups)
            )
            audit.record(by, "create", workflow, after=_audit_facts(workflow))
            workflow.announce()
            send_once(ADVANCE, None, PERIODIC)
    except IntegrityError:
        if pk and (earlier := Workflow.objects.filter(pk=pk).first()):
            return earlier  # the other click was quicker
        raise
    return workflow


def check(
    graph: WorkflowGraph, *, project: Project, by: User, priority: str = Priority.NORMAL
) -> None:
    """Check whether :func:`submit` would accept a graph, without creating anything. ``SpecError``
    if not."""
    access.require(by, "workloads.create", *project.scope_keys)
    problems = list(find_problems(graph, project=project, priority=priority, by=by))
    if problems:
        raise SpecError(problems)


def cancel(workflow: Workflow, *, by: User, message: str = "") -> None:
    """Stop all groups that run, and start no others. ``NotPossible`` if it has ended."""
    access.require(by, "workloads.update", *workflow.project.scope_keys)
    running.advance(workflow.pk)  # what has ended by now keeps how it ended
    with transaction.atomic():
        # The rows are locked: a group that is being started is either seen here as started, or
        # finds itself canceled.
        rows = GroupRun.objects.select_for_update().filter(workflow=workflow)
        groups = list(rows.order_by("position"))
        workflow.refresh_from_db()
        if workflow.is_finished:
            raise NotPossible(f"{workflow} has ended already: {Status(workflow.status).label}.")
        unfinished = [group for group in groups if group.status in UNFINISHED]
        for group in unfinished:
            group.workflow = workflow
            group.move(Status.CANCELED, failure=message or CANCELED)
        Workflow.objects.filter(pk=workflow.pk).update(canceled_by=by, message=message)
        running.settle(workflow, groups)
        ids = [group.workload_id for group in unfinished if group.workload_id]
        started = list(Workload.objects.filter(pk__in=ids).select_related("project", "cluster"))
        # A workload that ended at this moment refuses, and nothing is left to stop.
        workloads.stop_all(started, by=by)
        audit.record(by, "cancel", workflow, after={"message": message} if message else None)
    workflow.refresh_from_db()


def restart(workflow: Workflow, *, by: User, changes: RestartChanges = NO_CHANGES) -> Workflow:
    """Run the groups that did not complete again, as a new workflow; those that completed hand
    their output on. With ``changes``, the file is read again with them.

    ``NotPossible`` unless it failed, or while an earlier restart runs, or if its file has other
    groups with the changes. ``YamlError`` if the file is wrong with them.
    """
    access.require(by, "workloads.create", *workflow.project.scope_keys)
    if not workflow.can_restart:
        raise NotPossible(
            f"{workflow} is {Status(workflow.status).label}; only a workflow that failed or was "
            "canceled can be restarted."
        )
    unfinished = workflow.groups.exclude(status=Status.COMPLETED)
    rest = [group.definition for group in unfinished]
    text = _text_of(workflow)
    if changes:
        read = read_file(file_of(workflow, changes), project=workflow.project, by=by)
        rest = _same_groups(read.graph, rest, workflow)
        text = read.text
    for earlier in _with_earlier_runs(workflow):
        completed = [it.definition for it in earlier.groups.filter(status=Status.COMPLETED)]
        rest = [_after_completed(group, completed, earlier) for group in rest]
    graph = WorkflowGraph(name=workflow.name, groups=tuple(rest))
    with transaction.atomic():
        # The row is locked, so that of two restarts at once the second sees the first.
        Workflow.objects.select_for_update().get(pk=workflow.pk)
        if again := workflow.restarts.filter(status__in=UNFINISHED).first():
            raise NotPossible(f"{workflow} was restarted as {again}, which has not ended yet.")
        return submit(
            graph,
            project=workflow.project,
            by=by,
            priority=workflow.priority,
            text=text,
            restarted_from=workflow,
        )


def _text_of(workflow: Workflow) -> WorkflowText:
    return WorkflowText(
        original=workflow.original,
        rendered=workflow.rendered,
        files=workflow.files_json,
        variables=workflow.variables_json,
        environment=workflow.environment_json,
        task_size=workflow.task_size,
        report=workflow.report_json,
    )


def _same_groups(
    graph: WorkflowGraph, groups: Sequence[WorkflowGroup], workflow: Workflow
) -> list[WorkflowGroup]:
    """Return the groups of a graph that have the names of ``groups``. ``NotPossible`` if the graph
    has others than the workflow and its earlier runs had."""
    read = {group.name: group for group in graph.groups}
    missing = [group.name for group in groups if group.name not in read]
    runs = _with_earlier_runs(workflow)
    added = read.keys() - {group.name for run in runs for group in run.groups.all()}
    if missing or added:
        names = ", ".join(sorted([*missing, *added]))
        raise NotPossible(
            f"With these values the file has other groups than {workflow}: {names}. Submit it as a "
            "new workflow."
        )
    return [read[group.name] for group in groups]


def _with_earlier_runs(workflow: Workflow) -> list[Workflow]:
    """Return a workflow and those that it restarts, the latest first. A restart has only the groups
    that had not completed before."""
    runs = [workflow]
    while earlier := runs[-1].restarted_from:
        runs.append(earlier)
    return runs


def _after_completed(
    group: WorkflowGroup, completed: Sequence[WorkflowGroup], workflow: Workflow
) -> WorkflowGroup:
    """Return a group that waits for none of the completed ones, and reads their tasks' output from
    the workflow in which they ran."""
    names = {other.name for other in completed}
    tasks = {task.name for other in completed for task in other.tasks}

    def read_elsewhere(task: WorkflowTask) -> WorkflowTask:
        inputs = tuple(
            task_input.model_copy(update={"workflow": workflow.label})
            if task_input.task in tasks and not task_input.workflow
            else task_input
            for task_input in task.inputs
        )
        return task.model_copy(update={"inputs": inputs})

    return group.model_copy(
        update={
            "upstream": tuple(name for name in group.upstream if name not in names),
            "tasks": tuple(map(read_elsewhere, group.tasks)),
        }
    )


def obstacle_to_delete(workflow: Workflow) -> str:
    """Return why a workflow cannot be deleted now; empty if it can."""
    return "" if workflow.is_finished else f"{workflow} is still running; cancel it first."


def delete(workflow: Workflow, *, by: User) -> None:
    """Delete a workflow that has ended, and its workloads. ``InUse`` while it runs."""
    access.require(by, "workloads.delete", *workflow.project.scope_keys)
    if obstacle := obstacle_to_delete(workflow):
        raise InUse(obstacle)
    with transaction.atomic():
        rows = [
            workload for group in workflow.groups.all() for workload in group.workloads().values()
        ]
        kept = [workload for workload in rows if workload.deleted_at is None]
        audit.record(by, "delete", workflow, before=_audit_facts(workflow))
        workflow.announce()
        datasets.forget_workflow(workflow.pk)
        workflow.delete()
        workloads.delete_all(kept, by=by)


def _audit_facts(workflow: Workflow) -> dict[str, Any]:
    """Return what the audit log keeps: not the texts, which may contain secrets."""
    return {
        "project": str(workflow.project),
        "priority": workflow.priority,
        "groups": [group.name for group in workflow.groups.all()],
        "restarted_from": str(workflow.restarted_from or ""),
    }
