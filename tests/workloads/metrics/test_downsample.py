"""Samples stay bounded, and every rank keeps its share."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from tests.factories import WorkloadFactory
from workloads.metrics import downsample
from workloads.models import Sample, SampleKind, Workload


def create_samples(
    workload: Workload, kind: SampleKind, ranks: int, values_of: Callable[[int], dict[str, float]]
) -> datetime:
    """Create 400 samples, one a second, of the ranks in turn. Returns the time of the first."""
    now = timezone.now()
    Sample.objects.bulk_create(
        Sample(
            workload=workload,
            kind=kind,
            run=1,
            rank=number % ranks,
            step=number,
            at=now + timedelta(seconds=number),
            values=values_of(number),
        )
        for number in range(400)
    )
    return now


def test_old_samples_of_metrics_grow_sparse_and_new_ones_stay(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downsample, "MOST_SAMPLES", 200)
    workload = WorkloadFactory()
    first = create_samples(workload, SampleKind.USAGE, ranks=2, values_of=lambda _: {})
    assert downsample.thin_samples(workload, SampleKind.USAGE) == 100
    assert downsample.thin_samples(workload, SampleKind.USAGE) > 0
    left = Sample.objects.filter(workload=workload)
    assert left.filter(at__gte=first + timedelta(seconds=300)).count() == 100
    assert left.filter(rank=0).count() == left.filter(rank=1).count()
    assert downsample.thin_samples(workload, SampleKind.TRAINING) == 0


def test_old_samples_keep_rare_metrics_and_spikes(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def values_of(number: int) -> dict[str, float]:
        values = {"loss": 99.0 if number == 77 else 1.0}
        return values if number % 20 else values | {"val_loss": number / 100}

    monkeypatch.setattr(downsample, "MOST_SAMPLES", 200)
    workload = WorkloadFactory()
    create_samples(workload, SampleKind.TRAINING, ranks=1, values_of=values_of)
    assert downsample.thin_samples(workload, SampleKind.TRAINING) >= 80
    left = [sample.values for sample in Sample.objects.filter(workload=workload)]
    assert [values["loss"] for values in left].count(99.0) == 1
    assert sum("val_loss" in values for values in left) >= 15
