"""What happened to a training, on the axis of its charts: later starts, and saved checkpoints."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from workloads.metrics.chart import ChartView
from workloads.metrics.series import Axis, Reported
from workloads.models import Workload
from workloads.models.checkpoint import Checkpoint


@dataclass(frozen=True)
class Marker:
    """A place on the axis. ``kind`` is start or checkpoint; ``label`` is short enough to stand in a
    chart."""

    kind: str
    x: float
    label: str
    text: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def find_markers(
    workload: Workload, run: int | None, reported: Reported, view: ChartView
) -> dict[Axis, list[Marker]]:
    """Return the markers on the axis of the training's charts and on that of usage."""
    axes = {view.axis, view.of_times().axis}
    markers: dict[Axis, list[Marker]] = {}
    for axis in axes:
        found = [*_starts(workload, reported, axis), *_checkpoints(workload, run, reported, axis)]
        in_view = view if axis is view.axis else view.of_times()
        markers[axis] = [marker for marker in found if in_view.contains(marker.x)]
    return markers


def _starts(workload: Workload, reported: Reported, axis: Axis) -> Iterator[Marker]:
    """Yield a marker for each run and attempt that reported, except the first."""
    rows = workload.attempts.values_list("run", "attempt", "resumed_step")
    resumed = {(run, attempt): step for run, attempt, step in rows}
    for (run, attempt), (step, at) in sorted(reported.starts.items())[1:]:
        label = f"run {run}, attempt {attempt + 1}" if attempt else f"run {run}"
        text = label
        resumed_step = resumed.get((run, attempt))
        if resumed_step is not None:
            text = f"{label}, from step {resumed_step}"
            step = resumed_step
        yield Marker("start", reported.position_of(step, at, axis), label, text)


def _checkpoints(
    workload: Workload, run: int | None, reported: Reported, axis: Axis
) -> Iterator[Marker]:
    for entry in workload.checkpoints:
        saved = Checkpoint.from_entry(entry)
        if run in {None, saved.run}:
            position = reported.position_of(saved.step, saved.at.timestamp(), axis)
            yield Marker("checkpoint", position, "", str(saved.step))
