"""What the charts get: bounded, by step or by time, the newest point always."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from workloads.metrics import chart
from workloads.models import Sample, SampleKind, Workload


def samples(workload: Workload, kind: SampleKind, count: int, **also: int) -> None:
    now = timezone.now()
    Sample.objects.bulk_create(
        Sample(
            workload=workload,
            kind=kind,
            run=also.get("run", 1),
            rank=also.get("rank", 0),
            step=number if kind == SampleKind.TRAINING else None,
            at=now + timedelta(seconds=number + also.get("later", 0)),
            values={"loss": 1 / (number + 1), "epoch": 1} | {"run": float(also.get("run", 1))}
            if kind == SampleKind.TRAINING
            else {"cpu": 0.5, "memory": 1e6},
        )
        for number in range(count)
    )


def test_a_long_training_has_a_bounded_number_of_points(workload: Workload) -> None:
    samples(workload, SampleKind.TRAINING, 3001)
    loss = next(one for one in chart.training_charts(workload) if one.name == "loss")
    steps, values = loss.columns
    assert 300 <= len(steps) <= chart.MOST_POINTS
    assert len(steps) == len(values)
    assert steps == sorted(step for step in steps if step is not None)
    assert steps[-1] == 3000, "the newest"


def test_a_step_that_is_done_twice_shows_its_later_sample(workload: Workload) -> None:
    samples(workload, SampleKind.TRAINING, 10, run=1)
    samples(workload, SampleKind.TRAINING, 5, run=2, later=60)
    run = next(one for one in chart.training_charts(workload) if one.name == "run")
    assert run.columns[1] == [2.0] * 5 + [1.0] * 5
    assert next(iter(chart.training_charts(workload, run=2))).columns[0] == [0, 1, 2, 3, 4]


def test_only_one_rank_speaks_for_the_training(workload: Workload) -> None:
    for rank in (1, 2):
        samples(workload, SampleKind.TRAINING, 5, rank=rank, run=rank)
    names = {one.name: one for one in chart.training_charts(workload)}
    assert names["run"].columns[1] == [1.0] * 5
    assert "epoch" not in names


@pytest.mark.parametrize("ranks", [1, 3])
def test_usage_has_a_line_a_rank(workload: Workload, ranks: int) -> None:
    for rank in range(ranks):
        samples(workload, SampleKind.USAGE, 1000, rank=rank)
    cpu, memory = chart.usage_charts(workload)
    assert (cpu.name, memory.name) == ("cpu", "memory")
    assert cpu.lines == ["master-0", "worker-0", "worker-1"][:ranks]
    assert len(cpu.columns) == ranks + 1
    assert {len(column) for column in cpu.columns} == {len(cpu.columns[0])}


def test_the_numbers_of_the_charts_come_as_json(client: Client, workload: Workload) -> None:
    samples(workload, SampleKind.TRAINING, 3)
    found = client.get(f"/workloads/{workload.pk}/metrics/data/?run=1").json()
    assert [one["name"] for one in found["training"]] == ["loss", "run"]
    assert found["usage"] == []
    address = f"/workloads/{workload.pk}/metrics/data/?run=2"
    assert client.get(address).json()["training"] == []
    assert client.get(f"/workloads/{workload.pk}/metrics/data/?run=x").status_code == 200
