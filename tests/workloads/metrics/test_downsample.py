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
