"""Graphs of workflows for tests. Each group is one pod."""

from typing import Any

from factory.declarations import LazyAttribute, RelatedFactory, Sequence, SubFactory
from factory.django import DjangoModelFactory

from projects.models import Project
from spec.phases import Phase, RankPhase, Reason
from tests.factories import IMAGE, ProjectFactory
from workflows import running, services
from workflows.graph import WorkflowGraph, WorkflowGroup
from workflows.models import GroupRun, Workflow, WorkflowNumber
from workflows.statuses import Status
from workloads.models import Rank, Workload


class WorkflowFactory(DjangoModelFactory[Workflow]):
    """A workflow that runs and has one group, which waits."""

    class Meta:
        model = Workflow
        skip_postgeneration_save = True

    name = Sequence("flow-{}".format)
    label = LazyAttribute(lambda it: f"{it.name}-{WorkflowNumber.take_next(it.name)}")
    project = SubFactory(ProjectFactory)
    status = Status.RUNNING
    one = RelatedFactory("tests.workflows.graphs.GroupRunFactory", factory_related_name="workflow")


class GroupRunFactory(DjangoModelFactory[GroupRun]):
    class Meta:
        model = GroupRun

    workflow = SubFactory(WorkflowFactory)
    name = "one"
    position = 0
    definition_json = LazyAttribute(lambda it: group(it.name))


def group(name: str, *upstream: str, **values: Any) -> dict[str, Any]:
    """Return a group with a task of the same name. ``values`` are those of the group, or of its
    task."""
    own = {"queue_timeout_seconds", "exec_timeout_seconds", "document"}
    task = {key: value for key, value in values.items() if key not in own}
    container = {"image": IMAGE, "command": "sh", "args": "-c 'echo {{workflow_id}}'"}
    document = {"kind": "training", "worker": container}
    return {
        "name": name,
        "upstream": upstream,
        "tasks": [{"name": name, "leads": True, **task}],
        "document": document,
        **{key: value for key, value in values.items() if key in own},
    }


def graph(*groups: dict[str, Any], name: str = "train") -> WorkflowGraph:
    return WorkflowGraph.model_validate({"name": name, "groups": groups})


def chain() -> WorkflowGraph:
    """A diamond and what follows it: ``data``, then ``left`` and ``right``, then ``report``."""
    return graph(
        group("data"),
        group("left", "data"),
        group("right", "data"),
        group("report", "left", "right"),
    )


def submit(project: Project, *groups: dict[str, Any], **values: Any) -> Workflow:
    """Submit a workflow as a member of the project, and let its first groups start."""
    by = values.pop("by")
    made = graph(*groups) if groups else chain()
    workflow = services.submit(made, project=project, by=by, **values)
    return advanced(workflow)


def advanced(workflow: Workflow) -> Workflow:
    running.advance(workflow.pk)
    workflow.refresh_from_db()
    return workflow


def run_of(workflow: Workflow, name: str) -> GroupRun:
    return workflow.groups.select_related("workload").get(name=name)


def workload_of(workflow: Workflow, name: str) -> Workload:
    workload = run_of(workflow, name).workload
    assert workload is not None, f"{name} has not started"
    return workload


def put(
    workflow: Workflow,
    name: str,
    phase: Phase,
    reason: Reason = Reason.NONE,
    *,
    code: int | None = None,
    message: str = "",
) -> Workflow:
    """Bring the workload of a group into a phase, and let the workflow notice it."""
    workload = workload_of(workflow, name)
    rows = Workload.objects.filter(pk=workload.pk)
    rows.update(phase=phase, reason=reason, message=message)
    if code is not None:
        ended = RankPhase.FAILED if code else RankPhase.SUCCEEDED
        Rank.objects.filter(workload=workload).update(exit_code=code, phase=ended)
    return advanced(workflow)


def definitions_of(workflow: Workflow) -> list[WorkflowGroup]:
    return [run.definition for run in workflow.groups.all()]


def statuses(workflow: Workflow) -> dict[str, str]:
    return {row.name: row.status for row in workflow.groups.all()}
