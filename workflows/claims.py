"""How tasks hand on files: what a task leaves in its output folder stays in a claim of the project,
which later tasks mount where they read it."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from spec.formats.documents import Document
from workflows.graph import WorkflowGroup, WorkflowTask, change_pods

OUTPUT_FOLDER = "/osmo/data/output"
INPUT_FOLDER = "/osmo/data/input"
SIZE = "10G"
DATA_SOURCES = "dataSources"


def output_claim(label: str, task: str) -> str:
    """Return the name of the claim with the output of a task. ``label`` is that of its workflow."""
    name = f"{label}-{task}-output"
    plain = name.lower().replace("_", "-")
    if plain == name:
        return name
    # Two names that differ only in case, or in - and _, have claims of their own.
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{plain}-{digest}"


def mount_claims(document: Document, group: WorkflowGroup, label: str) -> Document:
    """Return the document of a group with the claims that its tasks write and read."""
    # An only pod has no name, and its task has no role.
    tasks = {task.role: task for task in group.tasks}
    return change_pods(document, lambda pod: _mount(pod, tasks[pod.get("name", "")], label))


def mount_datasets(document: Document, group: WorkflowGroup, chosen: Mapping[str, str]) -> Document:
    """Return the document of a group with the datasets that its tasks read. ``chosen`` has the ids
    of the datasets by their names; those that it lacks are left out."""
    tasks = {task.role: task for task in group.tasks}

    def mount(pod: Document) -> Document:
        sources = [
            {
                "id": chosen[read.dataset],
                "path": f"{INPUT_FOLDER}/{number}",
                "version": read.version,
            }
            for number, read in enumerate(tasks[pod.get("name", "")].inputs)
            if read.dataset in chosen
        ]
        return {**pod, DATA_SOURCES: sources} if sources else pod

    return change_pods(document, mount)


def _mount(pod: Document, task: WorkflowTask, label: str) -> Document:
    claims = list(_claims(task, label))
    if not claims:
        return pod
    storage: Document = dict(pod.get("storage", {}))
    if task.keeps_output:
        folders = [
            item for item in storage.get("emptyDirVolume", []) if item["path"] != OUTPUT_FOLDER
        ]
        storage["emptyDirVolume"] = folders
    return {**pod, "storage": {**storage, "pvc": [*storage.get("pvc", []), *claims]}}


def _claims(task: WorkflowTask, label: str) -> Iterator[dict[str, Any]]:
    if task.keeps_output:
        yield _claim(output_claim(label, task.name), OUTPUT_FOLDER)
    for number, task_input in enumerate(task.inputs):
        if task_input.task:
            name = output_claim(task_input.workflow or label, task_input.task)
            yield {**_claim(name, f"{INPUT_FOLDER}/{number}"), "readOnly": True}


def _claim(name: str, path: str) -> dict[str, Any]:
    return {"claimName": name, "claimInfo": {"size": SIZE}, "path": path}
