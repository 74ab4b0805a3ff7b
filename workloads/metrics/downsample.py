"""Limit the number of a workload's samples: the older they are, the fewer are kept."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from workloads.metrics.buckets import outstanding
from workloads.metrics.numbers import finite_value
from workloads.models import Sample, SampleKind, Workload

MOST_SAMPLES = 20_000  # per kind and workload
CHECK_EVERY = 500  # samples between two checks; counting each time would cost more than it saves
CHUNK = 500
LEAST_BUCKET = 2  # samples
Rows = Sequence[tuple[int, dict[str, Any]]]  # primary keys with values


def thin_if_due(workload: Workload, added: Sequence[Sample]) -> None:
    """After adding samples, check from time to time whether there are too many."""
    if added and any(sample.pk % CHECK_EVERY == 0 for sample in added):
        thin_samples(workload, SampleKind(added[0].kind))


def thin_samples(workload: Workload, kind: SampleKind) -> int:
    """Thin out each rank's samples in the older half, and return how many were deleted.

    Repeated, this keeps recent samples complete and thins out old ones more and more. Of each
    bucket of samples those stay in which any metric has its lowest, highest or last value there: a
    rare metric is not lost for standing in every other sample, and neither is a spike.
    """
    samples = Sample.objects.filter(workload=workload, kind=kind)
    count = samples.count()
    if count <= MOST_SAMPLES:
        return 0
    middle = samples.order_by("at", "id").values_list("at", flat=True)[count // 2]
    older = samples.filter(at__lt=middle).order_by("run", "rank", "at", "id")
    rows = older.values_list("run", "rank", "pk", "values")
    excess: list[int] = []
    for _, group in groupby(rows, key=itemgetter(0, 1)):
        excess += _excess_of_rank([(pk, values) for _, _, pk, values in group])
    for start in range(0, len(excess), CHUNK):
        Sample.objects.filter(pk__in=excess[start : start + CHUNK]).delete()
    return len(excess)


def _excess_of_rank(samples: Rows) -> list[int]:
    """Return which of the samples of a rank can go: at least half, unless there are few."""
    size = LEAST_BUCKET
    while True:
        buckets = [samples[start : start + size] for start in range(0, len(samples), size)]
        kept = {pk for bucket in buckets for pk in _outstanding_samples(bucket)}
        if len(kept) <= len(samples) / 2 + 1 or size > len(samples):
            return [pk for pk, _ in samples if pk not in kept]
        size *= 2


def _outstanding_samples(bucket: Rows) -> set[int]:
    series: dict[str, list[tuple[int, float | None]]] = defaultdict(list)
    for pk, values in bucket:
        for name, value in values.items():
            series[name].append((pk, finite_value(value)))
    kept = {bucket[-1][0]}
    for points in series.values():
        chosen = outstanding([value for _, value in points])
        kept |= {points[index][0] for index in chosen}
    return kept
