"""The graph of a workflow: groups, each of which becomes one workload, and what they hand on.

Readers of other formats make it, the database keeps it as JSON, and the run of a workflow follows
it. The document of a group is that of a workload without its name and project; tokens such as
``{{workflow_id}}`` in it are replaced when the group starts.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from pydantic import Field

from spec.part import Flag, Part, Whole


class ExitAction(StrEnum):
    """What follows when a task ends with one of the codes of an action."""

    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    RESCHEDULE = "RESCHEDULE"


class CodeRange(Part):
    """Exit codes from ``first`` to ``last``."""

    first: Whole = Field(ge=0, le=255, description="The first exit code")
    last: Whole = Field(ge=0, le=255, description="The last exit code")


class TaskInput(Part):
    """Files that a task reads: the output of a ``task``, or a version of a ``dataset``. Both are
    empty for a folder that the document of the group already mounts."""

    task: str = Field("", description="The task whose output is read")
    workflow: str = Field("", description="The earlier workflow of the task; this one if empty")
    dataset: str = Field("", description="The dataset that is read")
    version: str = Field("", description="The version of the dataset; the latest if empty")


class DatasetOutput(Part):
    """A dataset of which what a task leaves behind becomes a version."""

    name: str = Field(description="The name of the dataset")
    paths: tuple[str, ...] = Field(
        (), description="Files and folders of the output that it gets; everything if empty"
    )
    regex: str = Field("", description="It gets only files whose path begins with this pattern")
    updates: Flag = Field(False, description="Whether the files of the last version stay")


class WorkflowTask(Part):
    """A task of a group. ``role`` is the role of the group's document that runs it; empty where
    the group is a single pod."""

    name: str = Field(description="The name in the file")
    role: str = Field("", description="The role that runs it")
    leads: Flag = Field(False, description="Whether its end is the end of the group")
    inputs: tuple[TaskInput, ...] = Field((), description="What it reads, in order")
    keeps_output: Flag = Field(
        False, description="Whether its output stays, because it is declared or other tasks read it"
    )
    datasets: tuple[DatasetOutput, ...] = Field(
        (), description="The datasets that get its output when its group has completed"
    )
    exit_actions: dict[ExitAction, tuple[CodeRange, ...]] = Field(
        {}, description="What follows an exit code"
    )

    @property
    def pod(self) -> str:
        """The name of the pod that runs it, within its workload. A single pod is a worker."""
        return f"{self.role or 'worker'}-0"


class WorkflowGroup(Part):
    """Tasks that start and end together, as one workload."""

    name: str = Field(description="The name in the file")
    upstream: tuple[str, ...] = Field((), description="Groups that have to complete before it")
    tasks: tuple[WorkflowTask, ...] = Field(min_length=1, description="The tasks")
    document: dict[str, Any] = Field(description="The workload, without its name and project")
    queue_timeout_seconds: Whole | None = Field(None, description="How long it may wait to start")
    exec_timeout_seconds: Whole | None = Field(None, description="How long it may run")

    @property
    def label(self) -> str:
        """What people call it: by its task, if it was made for a task that is in no group."""
        (first, *others) = self.tasks
        is_made = not others and self.name == f"{first.name}-group"
        return first.name if is_made else self.name


class WorkflowGraph(Part):
    """A workflow as it runs. A group comes after those that it waits for."""

    name: str = Field(description="The name of the workflow, without the number of the run")
    groups: tuple[WorkflowGroup, ...] = Field(min_length=1, description="The groups, in order")


def change_pods(
    document: dict[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """Return the document of a group with each of its roles, or its only pod, changed."""
    if "roles" in document:
        return {**document, "roles": [change(role) for role in document["roles"]]}
    return {**document, "worker": change(document["worker"])}
