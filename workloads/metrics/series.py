"""Read the values that trainings reported, along an axis: steps, seconds or moments."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

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


@dataclass(frozen=True)
class ReportedValue:
    """A value of a metric with its step, and when it was reported, in seconds since 1970."""

    step: int
    at: float
    stored: Stored


@dataclass
class Reported:
    """What a source reported: values by metric and rank, oldest first, and the first sample of each
    attempt, as step and time by (run, attempt)."""

    values: dict[str, dict[int, list[ReportedValue]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    starts: dict[tuple[int, int], tuple[int, float]] = field(default_factory=dict)

    @property
    def began_at(self) -> float:
        """When the first value was reported, in seconds since 1970."""
        return min((at for _, at in self.starts.values()), default=0.0)

    def of_lowest_rank(self, name: str) -> Sequence[ReportedValue]:
        """Return the values of a metric from the lowest rank that reports it: where all ranks
        report the same, that one speaks for the training."""
        ranks = self.values.get(name, {})
        return ranks[min(ranks)] if ranks else ()

    def along(self, values: Iterable[ReportedValue], axis: Axis) -> list[tuple[float, Stored]]:
        """Return the values by their place on the axis, in its order. If a step was repeated the
        later value counts."""
        places: dict[float, Stored] = {}
        for value in values:
            places[self.place(value.step, value.at, axis)] = value.stored
        return sorted(places.items(), key=lambda item: item[0])

    def place(self, step: int, at: float, axis: Axis) -> float:
        """Return where on the axis something is that happened at a step and a time."""
        if axis is Axis.STEP:
            return float(step)
        return round(at - (self.began_at if axis is Axis.RELATIVE else 0.0), 3)


def read_training(sources: Sequence[MetricSource]) -> list[Reported]:
    """Return what each of the sources reported, by one query."""
    reported = [Reported() for _ in sources]
    by_workload: dict[UUID, list[tuple[int | None, Reported]]] = defaultdict(list)
    for source, one in zip(sources, reported, strict=True):
        by_workload[source.workload].append((source.run, one))
    samples = Sample.objects.filter(workload__in=list(by_workload), kind=SampleKind.TRAINING)
    rows = samples.filter(step__isnull=False).order_by("at", "id")
    columns = rows.values_list("workload", "run", "attempt", "rank", "step", "at", "values")
    for workload, run, attempt, rank, step, at, values in columns.iterator(MOST_AT_ONCE):
        receivers = [one for chosen, one in by_workload[workload] if chosen in {None, run}]
        seconds = at.timestamp()
        for one in receivers:
            one.starts.setdefault((run, attempt), (step or 0, seconds))
            for name, stored in values.items():
                if stored is not None and name not in UNCHARTED:
                    one.values[name][rank].append(ReportedValue(step or 0, seconds, stored))
    return reported
