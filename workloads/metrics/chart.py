"""Prepare metrics for charts: columns of numbers, with at most a few hundred points each."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Any

from django.db.models import Count, F, Window
from django.db.models.functions import RowNumber

from workloads.models import SampleKind, Workload

MOST_POINTS = 600  # per line
MOST_POINTS_IN_CHART = 6000  # per chart: with many ranks each has fewer points
MOST_CHARTS = 12
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
    gap."""

    name: str
    label: str
    x: str
    lines: list[str]
    columns: list[list[float | None]]

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "label": self.label,
            "x": self.x,
            "lines": self.lines,
            "columns": self.columns,
        }


def training_charts(workload: Workload, run: int | None = None) -> list[Chart]:
    """Return charts of reported metrics by step. If a step was repeated the later value counts."""
    samples = _thin_samples(workload, SampleKind.TRAINING, run, lines=1)
    series: dict[str, dict[float, float]] = defaultdict(dict)
    for sample in samples:
        for name, value in sample["values"].items():
            if sample["step"] is not None and name not in UNCHARTED:
                series[name][float(sample["step"])] = value
    charts = []
    for name in sorted(series, key=_sort_key)[:MOST_CHARTS]:
        points = sorted(series[name].items())
        columns: list[list[float | None]] = [[x for x, _ in points], [y for _, y in points]]
        charts.append(Chart(name, LABELS.get(name, name), "step", [name], columns))
    return charts


def usage_charts(workload: Workload, run: int | None = None) -> list[Chart]:
    """Return charts of the ranks' usage by time, in seconds since 1970."""
    names = {rank.rank: rank.name for rank in workload.ranks.all()}
    samples = _thin_samples(workload, SampleKind.USAGE, run, lines=len(names))
    values: dict[str, dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for sample in samples:
        second = round(sample["at"].timestamp())
        for name, value in sample["values"].items():
            values[name][second][sample["rank"]] = value
    return [_usage_chart(name, values[name], names) for name in sorted(values, key=_sort_key)]


def _usage_chart(name: str, points: dict[int, dict[int, float]], names: dict[int, str]) -> Chart:
    seconds = sorted(points)
    ranks = sorted({rank for values in points.values() for rank in values})
    columns: list[list[float | None]] = [[float(second) for second in seconds]]
    columns += [[points[second].get(rank) for second in seconds] for rank in ranks]
    lines = [names.get(rank, f"rank {rank}") for rank in ranks]
    return Chart(name, LABELS.get(name, name), "time", lines, columns)


def _thin_samples(
    workload: Workload, kind: SampleKind, run: int | None, *, lines: int
) -> Iterable[Any]:
    """Return samples, oldest first: every n-th of each rank, and always the newest.

    If several ranks report the same training, the lowest rank counts.
    """
    samples = workload.samples.filter(kind=kind).order_by()
    if run is not None:
        samples = samples.filter(run=run)
    counts = dict(samples.values_list("rank").annotate(Count("id")))
    if not counts:
        return []
    if kind is SampleKind.TRAINING:
        samples = samples.filter(rank=min(counts))
        counts = {min(counts): counts[min(counts)]}
    budget = max(min(MOST_POINTS, MOST_POINTS_IN_CHART // max(lines, 1)), 20)
    stride = max(ceil(max(counts.values()) / budget), 1)
    newest_first = [F("at").desc(), F("id").desc()]
    number = Window(RowNumber(), partition_by=[F("rank")], order_by=newest_first)
    numbered = samples.annotate(number=number).annotate(remainder=F("number") % stride)
    chosen = numbered.filter(remainder=1 % stride).order_by("at", "id")
    return chosen.values("rank", "step", "at", "values")


def _sort_key(name: str) -> tuple[int, str]:
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)
