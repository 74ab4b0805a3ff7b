"""Makes the graph of a workflow file: each group becomes the document of one workload."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any

from spec.kind import WorkloadKind
from spec.problems.errors import Path, Problem
from workflows.graph import (
    CodeRange,
    DatasetOutput,
    ExitAction,
    TaskInput,
    WorkflowGraph,
    WorkflowGroup,
    WorkflowTask,
)
from workflows.imports.checks import group_of_tasks, upstream_groups
from workflows.imports.osmo import (
    OsmoPart,
    OsmoTask,
    OsmoWorkflow,
    PlacedGroup,
    PlacedTask,
)
from workflows.imports.reading import ReadWorkflow
from workflows.imports.replicas import ImportedFiles, KnownNames, ReplicaMapping, role_names
from workflows.imports.report import ImportNote, NoteKind
from workflows.imports.tokens import TaskTokens

NO_FILES: ImportedFiles = {}
NO_EFFECT = "has no effect"
#: What a workflow and a task may have without effect, and why.
IGNORED_IN_WORKFLOW = {
    "backend": "has no effect, as in OSMO",
    "labels": "is left out: workflows have no labels",
}
IGNORED_IN_TASK = {
    "privileged": "is left out: pods have the rights that their project allows",
    "hostNetwork": "is left out: pods have a network of their own",
    "checkpoint": "is left out: nothing is uploaded while a task runs; declare an output",
    "kpis": NO_EFFECT,
    "downloadType": NO_EFFECT,
    "cacheSize": NO_EFFECT,
    "backend": NO_EFFECT,
    "resources": NO_EFFECT,
}
OUTPUT_STAYS = (
    "The output stays in a claim of the project, which other workloads can mount; it is not copied "
    "elsewhere."
)
NO_DATASET = (
    "The output stays in a claim of the project, which other workloads can mount; no version of a "
    "dataset is created, because Trainyard cannot read the claims of this cluster."
)
FAIL_FAST = (
    "This group relies on OSMO's default, where only the leading task counts; here the failure of "
    "any task ends the group. Write ignoreNonleadStatus: true for OSMO's way."
)


@dataclass(frozen=True)
class ImportedWorkflow:
    """The graph of a file, its text as rendered, and notes in the order of their lines."""

    graph: WorkflowGraph
    rendered: str
    notes: tuple[ImportNote, ...]


def map_workflow(
    read: ReadWorkflow, *, files: ImportedFiles = NO_FILES, known: KnownNames | None = None
) -> ImportedWorkflow:
    """Return the graph of a file. ``files`` has the contents of local files by their paths.

    Raises ``YamlError`` for everything in it that cannot run here, each at its line.
    """
    mapping = _WorkflowMapping(read.workflow, files, known or KnownNames())
    groups = {group.name: group for group in mapping.groups()}
    if mapping.problems:
        raise read.lines.error(mapping.problems)
    order = TopologicalSorter({name: group.upstream for name, group in groups.items()})
    ordered = tuple(groups[name] for name in order.static_order())
    graph = WorkflowGraph(name=read.workflow.name, groups=ordered)
    notes = [ImportNote(read.lines.line_of(path), kind, text) for path, kind, text in mapping.notes]
    if read.dropped_line:
        text = "What stands before the first section is left out, as by OSMO."
        notes.append(ImportNote(read.dropped_line, NoteKind.IGNORED, text))
    notes.sort(key=lambda note: note.line)
    return ImportedWorkflow(graph, read.rendered, tuple(dict.fromkeys(notes)))


@dataclass
class _WorkflowMapping:
    """Goes through the groups of a workflow, and collects problems and notes on the way."""

    workflow: OsmoWorkflow
    files: ImportedFiles
    known: KnownNames
    problems: list[Problem] = field(default_factory=list)
    notes: list[tuple[Path, NoteKind, str]] = field(default_factory=list)
    read_tasks: set[str] = field(default_factory=set)

    def groups(self) -> Iterator[WorkflowGroup]:
        placed_groups = list(self.workflow.placed_groups())
        group_by_task = group_of_tasks(placed_groups)
        self.read_tasks = {
            read.task
            for group in placed_groups
            for placed in group.tasks
            for read in placed.task.inputs
            if read.task
        }
        self._note_ignored(self.workflow, ("workflow",), IGNORED_IN_WORKFLOW)
        self._note_pool()
        timeout = self.workflow.timeout
        if timeout.queue_timeout or timeout.exec_timeout:
            self._note(("workflow", "timeout"), NoteKind.MAPPED, "timeout holds for each group.")
        for group in placed_groups:
            names = role_names([placed.task.name for placed in group.tasks])
            tasks = [
                self._task(placed, names[placed.task.name], len(group.tasks) == 1)
                for placed in group.tasks
            ]
            yield WorkflowGroup(
                name=group.group.name,
                upstream=upstream_groups(group, group_by_task),
                tasks=tuple(tasks),
                document=self._document(group, names),
                queue_timeout_seconds=timeout.queue_timeout,
                exec_timeout_seconds=timeout.exec_timeout,
            )

    def _document(self, group: PlacedGroup, names: Mapping[str, str]) -> dict[str, Any]:
        """Return the workload of a group. It is never started again by itself: what follows a
        failure is said by exit actions."""
        is_gang = len(group.tasks) > 1
        hosts = names if is_gang else {placed.task.name: "localhost" for placed in group.tasks}
        replicas = [self._replica(placed, hosts) for placed in group.tasks]
        if not is_gang:
            self._note(
                group.path, NoteKind.MAPPED, f"{group.group.name} becomes a training of one pod."
            )
            kind = WorkloadKind.TRAINING.value
            return {"kind": kind, "worker": replicas[0], "backoffLimit": 0}
        self._note(
            group.path,
            NoteKind.MAPPED,
            f"{group.group.name} becomes a workload with the roles {', '.join(names.values())}.",
        )
        ignores = group.group.ignore_nonlead_status
        if ignores is None:
            self._note(group.path, NoteKind.DIFFERS, FAIL_FAST)
        roles = [
            {
                "name": names[placed.task.name],
                "count": 1,
                "leads": placed.task.lead,
                **replica,
            }
            for placed, replica in zip(group.tasks, replicas, strict=True)
        ]
        return {
            "kind": WorkloadKind.DISTRIBUTED.value,
            "roles": roles,
            "ignoreNonLeadStatus": bool(ignores),
            "barrier": group.group.barrier,
            "backoffLimit": 0,
        }

    def _replica(self, placed: PlacedTask, hosts: Mapping[str, str]) -> dict[str, Any]:
        inputs = [read.task or "" for read in placed.task.inputs]
        mapping = ReplicaMapping(
            task=placed.task,
            resource=self.workflow.resources.get(placed.task.resource),
            tokens=TaskTokens(hosts, inputs),
            files=self.files,
            known=self.known,
        )
        replica = mapping.replica()
        for path, message in mapping.problems:
            self.problems.append(Problem(self._path_in_file(placed, path), message))
        for path, kind, text in mapping.notes:
            self._note(self._path_in_file(placed, path), kind, text)
        self._note_ignored(placed.task, placed.path, IGNORED_IN_TASK)
        self._note_outputs(placed)
        return replica

    def _note_outputs(self, placed: PlacedTask) -> None:
        for number, output in enumerate(placed.task.outputs):
            path = (*placed.path, "outputs", number)
            made = output.dataset or output.update_dataset
            if made is None:
                self._note(path, NoteKind.DIFFERS, OUTPUT_STAYS)
            elif not self.known.reads_claims:
                self._note(path, NoteKind.DIFFERS, NO_DATASET)
            else:
                text = f"The output becomes a version of the dataset {made.name}."
                self._note(path, NoteKind.MAPPED, text)
            if made and (made.metadata or made.labels):
                text = "metadata and labels are left out: datasets have neither."
                self._note(path, NoteKind.IGNORED, text)

    def _path_in_file(self, placed: PlacedTask, path: Path) -> Path:
        """Return the path in the file of a path that begins at a task, or at the resources."""
        if path[:1] == ("resources",):
            return ("workflow", *path)
        return (*placed.path, *path)

    def _task(self, placed: PlacedTask, role: str, is_alone: bool) -> WorkflowTask:
        task = placed.task
        return WorkflowTask(
            name=task.name,
            role="" if is_alone else role,
            leads=task.lead or is_alone,
            inputs=tuple(self._inputs(placed)),
            keeps_output=bool(task.outputs) or task.name in self.read_tasks,
            datasets=tuple(_dataset_outputs(task)) if self.known.reads_claims else (),
            exit_actions=_exit_actions(task),
        )

    def _inputs(self, placed: PlacedTask) -> Iterator[TaskInput]:
        for number, read in enumerate(placed.task.inputs):
            path = (*placed.path, "inputs", number)
            if read.dataset is not None:
                name, _, version = read.dataset.name.partition(":")
                yield TaskInput(dataset=name, version=version)
                if read.dataset.path or read.dataset.regex:
                    text = "path and regex are left out: a task reads all files of a version."
                    self._note((*path, "dataset"), NoteKind.DIFFERS, text)
            elif read.url is not None:
                yield TaskInput()
            else:
                earlier, colon, task = (read.task or "").rpartition(":")
                yield TaskInput(workflow=earlier if colon else "", task=task)
            if read.regex:
                text = "regex is left out: a task reads all files of its input."
                self._note((*path, "regex"), NoteKind.DIFFERS, text)

    def _note_ignored(self, part: OsmoPart, path: Path, reasons: Mapping[str, str]) -> None:
        """Note what a part says without effect."""
        for name, info in type(part).model_fields.items():
            key = info.alias or name
            if key in reasons and getattr(part, name):
                self._note((*path, key), NoteKind.IGNORED, f"{key} {reasons[key]}.")

    def _note_pool(self) -> None:
        """Note whether the pool of the file is the project to which it is submitted."""
        pool = self.workflow.pool
        if not pool:
            return
        path = ("workflow", "pool")
        if pool not in self.known.pools:
            text = f"pool {pool} is not known here; the workflow runs where it is submitted."
            self._note(path, NoteKind.IGNORED, text)
        elif self.known.pools[pool]:
            self._note(path, NoteKind.MAPPED, f"pool {pool} is this project.")
        else:
            text = f"pool {pool} is another project than the one to which this is submitted."
            self._note(path, NoteKind.DIFFERS, text)

    def _note(self, path: Path, kind: NoteKind, text: str) -> None:
        self.notes.append((path, kind, text))


def _dataset_outputs(task: OsmoTask) -> Iterator[DatasetOutput]:
    for output in task.outputs:
        if output.dataset:
            made = output.dataset
            paths = (made.path,) if made.path else ()
            yield DatasetOutput(name=made.name, paths=paths, regex=made.regex or output.regex)
        elif output.update_dataset:
            made_update = output.update_dataset
            yield DatasetOutput(name=made_update.name, paths=made_update.paths, updates=True)


def _exit_actions(task: OsmoTask) -> dict[ExitAction, tuple[CodeRange, ...]]:
    return {ExitAction(name.upper()): codes for name, codes in task.exit_actions.items()}
