"""Prepare metrics for charts: columns of numbers, with at most a few hundred points each."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Max, Min

from workloads.metrics.buckets import bucket_width, thin_points
from workloads.metrics.numbers import Stored, finite_value, text_of_number
from workloads.models import SampleKind, Workload

MOST_POINTS = 600  # per line
MOST_POINTS_IN_CHART = 6000  # per chart: with many ranks each has fewer points
MOST_POINTS_OF_ALL = 12_000  # of all charts of training metrics together
FEWEST_POINTS = 20  # per line, with however many ranks
LABELS = {
    "loss": "Loss",
    "accuracy": "Accuracy",
    "samples_per_second": "Throughput (samples/s)",
    "cpu": "CPU (cores)",
    "memory": "CPU memory (bytes)",
    "gpu": "GPU utilization (%)",
    "gpu_memory": "GPU memory (bytes)",
}
ORDER = list(LABELS)
UNCHARTED = frozenset({"epoch", "rank", "world_size", "time", "timestamp"})


@dataclass(frozen=True)
class Chart:
    """A chart. ``columns`` are x values, then one list per line, all of equal length; ``None`` is a
    gap. ``marks`` are x values where a number is not finite, with what it is."""

    name: str
    label: str
    x: str
    lines: list[str]
    columns: list[list[float | None]]
    marks: list[tuple[float, str]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "label": self.label,
            "x": self.x,
            "lines": self.lines,
            "columns": self.columns,
            "marks": self.marks,
        }


def training_charts(workload: Workload, run: int | None = None) -> list[Chart]:
    """Return charts of reported metrics by step. If a step was repeated the later value counts."""
    series: dict[str, dict[float, Stored]] = defaultdict(dict)
    for step, values in _training_values(workload, run):
        for name, value in values.items():
            if value is not None and name not in UNCHARTED:
                series[name][float(step)] = value
    most = min(MOST_POINTS, MOST_POINTS_OF_ALL // max(len(series), 1))
    return [_training_chart(name, series[name], most) for name in sorted(series, key=_sort_key)]


def _training_values(
    workload: Workload, run: int | None
) -> Iterable[tuple[int, dict[str, Stored | None]]]:
    """Return steps with their values, oldest first. If several ranks report the same training, the
    lowest rank counts."""
    samples = workload.samples.filter(kind=SampleKind.TRAINING, step__isnull=False).order_by()
    if run is not None:
        samples = samples.filter(run=run)
    lowest = samples.aggregate(lowest=Min("rank"))["lowest"]
    rows = samples.filter(rank=lowest).order_by("at", "id")
    return ((step or 0, values) for step, values in rows.values_list("step", "values"))


def _training_chart(name: str, values: dict[float, Stored], most: int) -> Chart:
    points = [(step, finite_value(value)) for step, value in sorted(values.items())]
    points = thin_points(points, most)
    columns: list[list[float | None]] = [[step for step, _ in points], [y for _, y in points]]
    marks = [(step, text_of_number(values[step])) for step, y in points if y is None]
    return Chart(name, LABELS.get(name, name), "step", [name], columns, marks)


def usage_charts(workload: Workload, run: int | None = None) -> list[Chart]:
    """Return charts of the ranks' usage by time, in seconds since 1970.

    Of each span of time a rank's last sample counts, and the spans do not move, so that a chart
    that is drawn again shows the same.
    """
    names = {rank.rank: rank.name for rank in workload.ranks.all()}
    samples = workload.samples.filter(kind=SampleKind.USAGE).order_by()
    if run is not None:
        samples = samples.filter(run=run)
    ends = samples.aggregate(first=Min("at"), last=Max("at"))
    if ends["first"] is None:
        return []
    budget = max(min(MOST_POINTS, MOST_POINTS_IN_CHART // max(len(names), 1)), FEWEST_POINTS)
    width = bucket_width(ends["first"].timestamp(), ends["last"].timestamp(), budget)
    values: dict[str, dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    rows = samples.order_by("at", "id").values_list("rank", "at", "values")
    for rank, at, numbers in rows.iterator():
        second = int(at.timestamp() // width * width)
        for name, value in numbers.items():
            values[name][second][rank] = value
    return [_usage_chart(name, values[name], names) for name in sorted(values, key=_sort_key)]


def _usage_chart(name: str, points: dict[int, dict[int, float]], names: dict[int, str]) -> Chart:
    seconds = sorted(points)
    ranks = sorted({rank for values in points.values() for rank in values})
    columns: list[list[float | None]] = [[float(second) for second in seconds]]
    columns += [[points[second].get(rank) for second in seconds] for rank in ranks]
    lines = [names.get(rank, f"rank {rank}") for rank in ranks]
    return Chart(name, LABELS.get(name, name), "time", lines, columns)


def _sort_key(name: str) -> tuple[int, str]:
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)
