"""What the pages show of a workflow's groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from spec.phases import HELD_UP
from workflows.drawing import HEIGHT, WIDTH, Box, Drawing, draw
from workflows.graph import WorkflowGraph, WorkflowTask
from workflows.models import GroupRun
from workflows.statuses import OF_PHASES, UNFINISHED, Status
from workloads.models import Workload

LONGEST_NAME = 24  # characters of a name that fit a box


@dataclass(frozen=True)
class ShownGroup:
    """A group as a page shows it. ``cause`` says why it failed, or what its workload waits for."""

    name: str
    status: Status
    upstream: tuple[str, ...]
    started_at: datetime | None = None
    completed_at: datetime | None = None
    cause: str = ""
    workload: Workload | None = None
    tasks: tuple[WorkflowTask, ...] = ()
    earlier: tuple[tuple[int, Workload], ...] = ()

    @property
    def short_name(self) -> str:
        if len(self.name) <= LONGEST_NAME:
            return self.name
        return f"{self.name[: LONGEST_NAME - 1]}…"

    @property
    def is_live(self) -> bool:
        return self.status is Status.RUNNING

    @property
    def seconds(self) -> float | None:
        """How long it has run, or ran."""
        if self.started_at is None:
            return None
        return ((self.completed_at or timezone.now()) - self.started_at).total_seconds()


def show_groups(runs: Sequence[GroupRun]) -> list[ShownGroup]:
    """Return the groups of a workflow."""
    labels = {run.name: run.definition.label for run in runs}
    return [_show_group(run, labels) for run in runs]


def _show_group(run: GroupRun, labels: Mapping[str, str]) -> ShownGroup:
    workload = run.workload
    starts = run.workloads().items() if run.retries else ()
    earlier = tuple((number + 1, it) for number, it in starts if number < run.retries)
    started_at = run.started_at or (workload.started_at if workload else None)
    return ShownGroup(
        labels[run.name],
        current_status(run),
        tuple(labels[name] for name in run.definition.upstream),
        started_at,
        run.completed_at,
        _cause(run),
        workload,
        run.definition.tasks,
        earlier,
    )


def preview_groups(graph: WorkflowGraph) -> list[ShownGroup]:
    """Return the groups of a workflow that is not submitted yet."""
    labels = {group.name: group.label for group in graph.groups}
    return [
        ShownGroup(
            name=group.label,
            status=Status.WAITING,
            upstream=tuple(labels[name] for name in group.upstream),
        )
        for group in graph.groups
    ]


def current_status(run: GroupRun) -> Status:
    """Return the status of a group as its workload is now: the run of the workflow notices a
    moment later."""
    if run.status in UNFINISHED and run.workload:
        return OF_PHASES.get(run.workload.phase, run.state)
    return run.state


def _cause(run: GroupRun) -> str:
    if run.failure:
        return run.failure
    workload = run.workload
    is_held_up = workload is not None and workload.phase in HELD_UP
    return workload.message if workload and is_held_up and not run.is_finished else ""


@dataclass(frozen=True)
class Picture:
    """The drawing of a workflow, with what each box shows."""

    drawing: Drawing
    boxes: list[tuple[Box, ShownGroup]]
    box_width: int = WIDTH
    box_height: int = HEIGHT


def picture_of(groups: Sequence[ShownGroup]) -> Picture:
    drawing = draw({group.name: group.upstream for group in groups})
    by_name = {group.name: group for group in groups}
    return Picture(drawing, [(box, by_name[box.name]) for box in drawing.boxes])
