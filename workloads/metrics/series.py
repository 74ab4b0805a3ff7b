"""Read the values that trainings reported, along an axis: steps, seconds or moments."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db.models import Case, IntegerField, Value, When

from workloads.metrics.names import UNCHARTED
from workloads.metrics.numbers import Stored
from workloads.models import Sample, SampleKind

MOST_AT_ONCE = 5000  # rows that are read from the database at a time


class Axis(StrEnum):
    """What values are drawn over. ``RELATIVE`` counts seconds since the first sample."""

    STEP = "step"
    RELATIVE = "relative"
    CLOCK = "clock"


@dataclass(frozen=True)
class MetricSource:
    """What is drawn: a workload, or one run of it."""

    workload: UUID
    run: int | None = None


@dataclass
class Series:
    """The values of a metric from one rank, oldest first, as columns: a tuple for each value would
    keep the garbage collector busy for as long as the database. Times are seconds since 1970."""

    steps: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    stored: list[Stored] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.stored)


@dataclass
class Reported:
    """What a source reported: series by metric and rank, and the first sample of each attempt, as
    step and time by (run, attempt)."""

    series: dict[str, dict[int, Series]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Series))
    )
    starts: dict[tuple[int, int], tuple[int, float]] = field(default_factory=dict)

    @cached_property
    def began_at(self) -> float:
        """When the first value was reported, in seconds since 1970."""
        return min((at for _, at in self.starts.values()), default=0.0)

    def of_lowest_rank(self, name: str) -> Series:
        """Return the values of a metric from the lowest rank that reports it: where all ranks
        report the same, that one speaks for the training."""
        ranks = self.series.get(name, {})
        return ranks[min(ranks)] if ranks else Series()

    def along(self, series: Series, axis: Axis) -> list[tuple[float, Stored]]:
        """Return the values by their position on the axis, in its order. If a step was repeated the
        later value counts."""
        positions: dict[float, Stored] = {}
        for step, at, stored in zip(series.steps, series.times, series.stored, strict=True):
            positions[self.position_of(step, at, axis)] = stored
        return sorted(positions.items(), key=itemgetter(0))

    def position_of(self, step: int, at: float, axis: Axis) -> float:
        """Return where on the axis something is that happened at a step and a time."""
        if axis is Axis.STEP:
            return float(step)
        return round(at - (self.began_at if axis is Axis.RELATIVE else 0.0), 3)


def read_training(sources: Sequence[MetricSource]) -> list[Reported]:
    """Return what each of the sources reported, by one query."""
    reported = [Reported() for _ in sources]
    workloads = list(dict.fromkeys(source.workload for source in sources))
    receivers: dict[int, list[tuple[int | None, Reported]]] = defaultdict(list)
    for source, one in zip(sources, reported, strict=True):
        receivers[workloads.index(source.workload)].append((source.run, one))
    for number, run, attempt, rank, step, at, values in _training_rows(workloads):
        seconds = at.timestamp()
        for one in [one for chosen, one in receivers[number] if chosen in {None, run}]:
            one.starts.setdefault((run, attempt), (step, seconds))
            for name, stored in values.items():
                if stored is not None and name not in UNCHARTED:
                    series = one.series[name][rank]
                    series.steps.append(step)
                    series.times.append(seconds)
                    series.stored.append(stored)
    return reported


def _training_rows(workloads: Sequence[UUID]) -> Iterator[tuple[Any, ...]]:
    """Return the samples of trainings, oldest first. The database numbers their workloads, because
    to parse a UUID a row would take a third of the time."""
    if not workloads:
        return iter(())
    numbers = (When(workload=pk, then=Value(number)) for number, pk in enumerate(workloads))
    samples = Sample.objects.filter(workload__in=workloads, kind=SampleKind.TRAINING)
    rows = samples.filter(step__isnull=False).order_by("at", "id")
    numbered = rows.annotate(number=Case(*numbers, output_field=IntegerField()))
    columns = ("number", "run", "attempt", "rank", "step", "at", "values")
    return numbered.values_list(*columns).iterator(MOST_AT_ONCE)
