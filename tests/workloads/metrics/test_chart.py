"""What the charts get: bounded, by step or by time, the newest point always."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from workloads.metrics import chart
from workloads.metrics.buckets import thin_points
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


def test_rare_metrics_and_spikes_are_in_every_chart(workload: Workload) -> None:
    now = timezone.now()
    rows = [
        Sample(
            workload=workload,
            kind=SampleKind.TRAINING,
            run=1,
            rank=0,
            step=step,
            at=now + timedelta(seconds=step),
            values={"loss": 9.0 if step % 47 == 0 else 1 + step % 5 / 10}
            | ({"val_loss": 1.0} if step % 20 == 0 else {}),
        )
        for step in range(1, 2001)
    ]
    Sample.objects.bulk_create(rows[:1400])
    for row in rows[1400:1440]:
        row.save()
        charts = {one.name: one for one in chart.training_charts(workload)}
        assert sorted(charts) == ["loss", "val_loss"]
        steps, values = charts["loss"].columns
        assert values.count(9.0) >= (row.step or 0) // 47 * 0.6
        assert len(charts["val_loss"].columns[0]) == (row.step or 0) // 20
        assert len(steps) <= chart.MOST_POINTS


def test_a_chart_has_a_gap_and_a_mark_where_a_number_is_not_finite(workload: Workload) -> None:
    samples(workload, SampleKind.TRAINING, 5)
    nan = workload.samples.get(step=2)
    nan.values["loss"] = "NaN"
    nan.save()
    loss = next(iter(chart.training_charts(workload)))
    assert loss.columns == [[0, 1, 2, 3, 4], [1, 1 / 2, None, 1 / 4, 1 / 5]]
    assert loss.marks == [(2, "NaN")]


def test_the_highest_spike_stays_whatever_the_width() -> None:
    points = [(float(step), 9.0 if step == 4100 else 1.0) for step in range(20_000)]
    for count in range(5_000, 20_000, 501):
        assert (4100.0, 9.0) in thin_points(points[:count], 600)


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
