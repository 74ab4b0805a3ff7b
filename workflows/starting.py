"""What a group of a workflow becomes: the draft of a workload."""

import hashlib
import random
import re
import socket
from collections.abc import Container, Iterator
from typing import Any

from accounts import access
from accounts.models import User
from assets.data_source.datasets.uses import find_dataset, is_dataset
from assets.models import DataSource
from clusters.withheld import why_withheld
from projects.models import Project
from projects.scopes import OwningScope
from spec.draft import NO_ASSET, ReplicaDraft, WorkloadDraft
from spec.formats.documents import Document
from spec.parts.scheduling import PriorityClass
from spec.problems.errors import Problem
from workflows.claims import mount_claims, mount_datasets
from workflows.graph import (
    DatasetOutput,
    TaskInput,
    WorkflowGraph,
    WorkflowGroup,
    WorkflowTask,
)
from workflows.imports.rewriting import prepare_for_machine
from workflows.models import GroupRun, Priority
from workflows.statuses import UNFINISHED, Status
from workloads.plan import plan

PRIORITY_CLASS = "priorityClass"
LONGEST_NAME = 50  # leaves room for -worker-N, and for -retry-N
WORKFLOW_ID = re.compile(r"\{\{\s*workflow_id\s*\}\}")
#: The priority class of a workflow's workloads, on clusters that start workloads by priority. A
#: normal one has that of its project's policy.
PRIORITY_CLASSES = {Priority.HIGH: PriorityClass.HIGH, Priority.LOW: PriorityClass.LOW}
#: Below the ports that the local engine reserves, and those of outgoing connections.
PORTS = range(10_000, 20_000)
#: A number that no workflow has, for drafts that are only checked.
UNNUMBERED = "0"


def workload_name(label: str, group: str, retry: int = 0) -> str:
    """Return the name of the workload of a group: ``train-3-preprocess``."""
    name = re.sub(r"[^a-z0-9]+", "-", f"{label}-{group}".lower()).strip("-")
    if len(name) > LONGEST_NAME:
        digest = hashlib.sha256(name.encode()).hexdigest()[:8]
        name = f"{name[: LONGEST_NAME - 9].rstrip('-')}-{digest}"
    return f"{name}-retry-{retry}" if retry else name


def draft_of(
    group: WorkflowGroup,
    *,
    label: str,
    project: Project,
    priority: str,
    retry: int = 0,
    later: Container[str] = (),
    port: int | None = None,
) -> WorkloadDraft:
    """Return the draft of a group's workload.

    ``label`` replaces ``{{workflow_id}}``, and where ranks share ports ``port`` the usual one;
    without one, for a draft that is only checked, any port. Datasets that are made ``later``, by
    other groups, are left out.
    """
    document: Document = mount_claims(replace_workflow_id(group.document, label), group, label)
    document = mount_datasets(document, group, _chosen_datasets(group, project, later))
    if project.cluster.definition.shares_ports:
        document = prepare_for_machine(document, port or PORTS[0]).document
    priority_class = PRIORITY_CLASSES.get(Priority(priority))
    if priority_class and not why_withheld(project.cluster, PRIORITY_CLASS):
        document.setdefault(PRIORITY_CLASS, priority_class.value)
    replicas = {role: document.pop(role) for role in ("worker", "master") if role in document}
    heads = {
        "kind": document.pop("kind", None),
        # A gang of named roles that names no framework has none.
        "framework": document.pop("distributedFramework", "" if "roles" in document else None),
        "architecture": document.pop("architecture", None),
    }
    return WorkloadDraft(
        name=workload_name(label, group.label, retry),
        project=project.pk,
        cluster=project.cluster_id,
        values=document,
        **{key: value for key, value in heads.items() if value is not None},
        **{role: ReplicaDraft(values=values) for role, values in replicas.items()},
    )


def _chosen_datasets(
    group: WorkflowGroup, project: Project, later: Container[str]
) -> dict[str, str]:
    """Return the ids of the datasets that a group reads. One that is missing has that of no asset,
    which the plan refuses."""
    names = {read.dataset for task in group.tasks for read in task.inputs if read.dataset}
    found = {name: find_dataset(name, project) for name in names}
    return {
        name: str(dataset.pk if dataset else NO_ASSET)
        for name, dataset in found.items()
        if dataset or name not in later
    }


def replace_workflow_id(value: Any, label: str) -> Any:
    """Return a document, or a text, with the label of a workflow in place of its token."""
    if isinstance(value, dict):
        return {key: replace_workflow_id(item, label) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [replace_workflow_id(item, label) for item in value]
    return WORKFLOW_ID.sub(label, value) if isinstance(value, str) else value


def find_port(project: Project) -> int | None:
    """Return a port that no other unfinished group has, and on which nobody listens if the ranks
    run on this machine; ``None`` where the pods of the project have addresses of their own.
    ``OSError`` if there is none."""
    definition = project.cluster.definition
    if not definition.shares_ports:
        return None
    unfinished = GroupRun.objects.filter(status__in=UNFINISHED).exclude(port=None)
    taken = set(unfinished.values_list("port", flat=True))
    for port in random.sample(PORTS, len(PORTS)):
        if port not in taken and (not definition.is_one_machine or _is_free(port)):
            return port
    raise OSError(f"no port from {PORTS[0]} to {PORTS[-1]} is free on this machine")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def find_problems(
    graph: WorkflowGraph, *, project: Project, priority: str, by: User
) -> Iterator[Problem]:
    """Yield everything that a cluster, a policy or an asset refuses in the groups, each at its
    path below the name of the group. Whether quotas have room is settled when a group starts."""
    label = f"{graph.name}-{UNNUMBERED}"
    made = {output.name for group in graph.groups for _, output in dataset_outputs(group)}
    later = {name for name in made if find_dataset(name, project) is None}
    for group in graph.groups:
        yield from _missing_inputs(group, project)
        yield from _missing_datasets(group, project, later)
        yield from _outputs_without_permission(group, project, label, by)
        draft = draft_of(group, label=label, project=project, priority=priority, later=later)
        for problem in plan(draft, by=by, submits=True).problems:
            path = (group.label, *problem.path)
            yield Problem(path, problem.message, problem.rule, problem.source)


def _missing_inputs(group: WorkflowGroup, project: Project) -> Iterator[Problem]:
    """Yield the inputs from earlier workflows that are not there: outputs are kept by project."""
    for task in group.tasks:
        for task_input in task.inputs:
            if task_input.workflow and not _was_kept(task_input, project):
                message = (
                    f"{task.name} reads {task_input.workflow}:{task_input.task}, which has no "
                    f"output in project {project}"
                )
                yield Problem((group.name, "inputs"), message)


def _missing_datasets(
    group: WorkflowGroup, project: Project, later: Container[str]
) -> Iterator[Problem]:
    """Yield the datasets that tasks read and that neither exist nor are made by other groups."""
    for task in group.tasks:
        for read in task.inputs:
            name = read.dataset
            if name and name not in later and find_dataset(name, project) is None:
                message = f"{task.name} reads {name}, which is no dataset of project {project}"
                yield Problem((group.name, "inputs"), message)


def _outputs_without_permission(
    group: WorkflowGroup, project: Project, label: str, by: User
) -> Iterator[Problem]:
    """Yield the datasets that the workflow may not make, or make versions of."""
    for _, output in dataset_outputs(group):
        name = replace_workflow_id(output.name, label)
        path = (group.label, "outputs")
        source = DataSource.objects.named(name, OwningScope(project)).first()
        permission = DataSource.permission("update" if source else "create")
        if source and not is_dataset(source):
            yield Problem(path, f"{name} is a data source of project {project}, and no dataset")
        elif not access.may(by, permission, *project.scope_keys):
            text = access.missing_permission_text(permission, by, *project.scope_keys)
            yield Problem(path, f"the dataset {name} cannot be written: {text}")


def dataset_outputs(group: WorkflowGroup) -> Iterator[tuple[WorkflowTask, DatasetOutput]]:
    """Yield the datasets that get the output of a group, with the task whose output it is."""
    for task in group.tasks:
        for output in task.datasets:
            yield task, output


def _was_kept(task_input: TaskInput, project: Project) -> bool:
    """Return whether the earlier workflow of an input kept the output that it names."""
    completed = GroupRun.objects.filter(
        workflow__label=task_input.workflow, workflow__project=project, status=Status.COMPLETED
    )
    tasks = [task for group in completed for task in group.definition.tasks]
    return any(task.name == task_input.task and task.keeps_output for task in tasks)
