"""Samples stay bounded, and every rank keeps its share."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import WorkloadFactory
from workloads.metrics import downsample
from workloads.models import Sample, SampleKind


def test_old_samples_of_metrics_grow_sparse_and_new_ones_stay(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downsample, "MOST_SAMPLES", 200)
    workload = WorkloadFactory()
    now = timezone.now()
    Sample.objects.bulk_create(
        Sample(
            workload=workload,
            kind=SampleKind.USAGE,
            run=1,
            rank=number % 2,
            at=now + timedelta(seconds=number),
            values={},
        )
        for number in range(400)
    )
    assert downsample.thin_samples(workload, SampleKind.USAGE) == 100
    assert downsample.thin_samples(workload, SampleKind.USAGE) > 0
    left = Sample.objects.filter(workload=workload)
    assert left.filter(at__gte=now + timedelta(seconds=300)).count() == 100
    assert left.filter(rank=0).count() == left.filter(rank=1).count()
    assert downsample.thin_samples(workload, SampleKind.TRAINING) == 0


def test_old_samples_keep_rare_metrics_and_spikes(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downsample, "MOST_SAMPLES", 200)
    workload = WorkloadFactory()
    now = timezone.now()
    Sample.objects.bulk_create(
        Sample(
            workload=workload,
            kind=SampleKind.TRAINING,
            run=1,
            rank=0,
            step=number,
            at=now + timedelta(seconds=number),
            values={"loss": 99.0 if number == 77 else 1.0}
            | ({"val_loss": number / 100} if number % 20 == 0 else {}),
        )
        for number in range(400)
    )
    assert downsample.thin_samples(workload, SampleKind.TRAINING) >= 80
    left = [sample.values for sample in Sample.objects.filter(workload=workload)]
    assert [values["loss"] for values in left].count(99.0) == 1
    assert sum("val_loss" in values for values in left) >= 15
