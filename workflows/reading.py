"""Read a workflow file for a project: its graph, and what became of each part of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings

from accounts.models import User
from assets.credential.usable import nearest_first, usable_credentials
from projects.models import Project
from spec.formats.documents import VARIABLES, Document
from spec.formats.lines import LineProblem, YamlError
from workflows.graph import WorkflowGraph, change_pods
from workflows.imports.mapping import map_workflow
from workflows.imports.reading import read_workflow
from workflows.imports.replicas import KnownNames
from workflows.imports.report import ImportNote, NoteKind
from workflows.imports.rewriting import parse_size, resize_tasks
from workflows.models import Pool, Workflow
from workflows.texts import WorkflowText

TONES = {NoteKind.MAPPED: "success", NoteKind.IGNORED: "warning", NoteKind.DIFFERS: "info"}


@dataclass(frozen=True)
class WorkflowFile:
    """A workflow file as it was handed in: its text; the local files that came with it, by path or
    by name; variables of its template; environment variables for all of its tasks; and a size for
    all of them, in words, in place of what the file says."""

    text: str
    files: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    task_size: str = ""


@dataclass(frozen=True)
class ReadFile:
    graph: WorkflowGraph
    text: WorkflowText


@dataclass(frozen=True)
class RestartChanges:
    """What is given anew when a workflow runs again: each value wins over the one that the workflow
    was submitted with, and what is not given stays."""

    variables: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    task_size: str = ""

    def __bool__(self) -> bool:
        return bool(self.variables or self.environment or self.task_size)


NO_CHANGES = RestartChanges()


def file_of(workflow: Workflow, changes: RestartChanges) -> WorkflowFile:
    """Return the file of a workflow as it was handed in, with changes."""
    return WorkflowFile(
        workflow.original,
        workflow.files_json,
        {**workflow.variables_json, **changes.variables},
        {**workflow.environment_json, **changes.environment},
        changes.task_size or workflow.task_size,
    )


def read_file(file: WorkflowFile, *, project: Project, by: User) -> ReadFile:
    """Read a workflow file. ``YamlError`` has its problems, each with its line."""
    try:
        size = parse_size(file.task_size)
    except ValueError as error:
        raise YamlError([LineProblem(0, f"The size of tasks: {error}")]) from None
    read = read_workflow(file.text, file.variables)
    files = _local_files(read.local_paths, file.files)
    # One machine has no node types.
    is_one_machine = project.cluster.definition.is_one_machine
    known = KnownNames(
        platforms={} if is_one_machine else settings.WORKFLOW_PLATFORMS,
        credentials=_credential_keys(project, by),
        reads_claims=project.cluster.definition.reads_claims(project.cluster),
        pools={pool.name: pool.project_id == project.pk for pool in Pool.objects.visible_to(by)},
    )
    imported = map_workflow(read, files=files, known=known)
    graph, size_note = _with_size(imported.graph, size)
    text = WorkflowText(
        original=file.text,
        rendered=imported.rendered,
        files=files,
        variables=dict(file.variables),
        environment=dict(file.environment),
        task_size=file.task_size,
        report=[_report_row(note) for note in (*size_note, *imported.notes)],
    )
    return ReadFile(_with_environment(graph, file.environment), text)


def _local_files(paths: tuple[str, ...], given: Mapping[str, str]) -> dict[str, str]:
    """Return the given files by the paths that the workflow names. A browser sends names without
    folders, so a name counts where only one path ends with it."""
    names = [PurePosixPath(path).name for path in paths]
    found: dict[str, str] = {}
    problems: list[LineProblem] = []
    for path, name in zip(paths, names, strict=True):
        if path in given:
            found[path] = given[path]
        elif name in given and names.count(name) == 1:
            found[path] = given[name]
        elif name in given:
            message = f"several local files are called {name}; submit with the command line"
            problems.append(LineProblem(0, message))
    if problems:
        raise YamlError(problems)
    return found


def _credential_keys(project: Project, by: User) -> dict[str, tuple[str, ...]]:
    """Return the names of the credentials that can be used, each with its keys."""
    rows = usable_credentials(project, by).select_related("cluster", "department", "project")
    nearest_last = reversed(nearest_first(rows))
    return {row.name: tuple(row.spec.keys or ()) for row in nearest_last}


def _report_row(note: ImportNote) -> dict[str, Any]:
    return {
        "line": note.line,
        "label": note.kind.label,
        "tone": TONES[note.kind],
        "text": note.text,
    }


def _with_size(
    graph: WorkflowGraph, size: Mapping[str, Any]
) -> tuple[WorkflowGraph, tuple[ImportNote, ...]]:
    """Return the graph with another size of its tasks, and a note that says what it changed."""
    if not size:
        return graph, ()
    groups = []
    places: list[str] = []
    for group in graph.groups:
        rewritten = resize_tasks(group.document, size)
        groups.append(group.model_copy(update={"document": rewritten.document}))
        places += rewritten.places
    words = " ".join(f"{name}={value}" for name, value in size.items())
    changed = f", which changes {', '.join(places)}" if places else ""
    note = ImportNote(0, NoteKind.DIFFERS, f"Tasks have the size {words}{changed}.")
    return graph.model_copy(update={"groups": tuple(groups)}), (note,)


def _with_environment(graph: WorkflowGraph, environment: Mapping[str, str]) -> WorkflowGraph:
    """Return the graph with these environment variables in every task, over those of the file."""
    if not environment:
        return graph

    def add_variables(pod: Document) -> Document:
        kept = [item for item in pod.get(VARIABLES, ()) if item["name"] not in environment]
        added = [{"name": name, "value": value} for name, value in environment.items()]
        return {**pod, VARIABLES: [*kept, *added]}

    groups = [
        group.model_copy(update={"document": change_pods(group.document, add_variables)})
        for group in graph.groups
    ]
    return graph.model_copy(update={"groups": tuple(groups)})
