"""What the charts get: bounded, by step or by time, the newest point always."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from workloads.metrics import chart, training, usage
from workloads.metrics.buckets import thin_bands, thin_points
from workloads.metrics.chart import BAND, LINES, Chart, ChartView
from workloads.metrics.markers import find_markers
from workloads.metrics.series import Axis, MetricSource, read_training
from workloads.models import Attempt, Sample, SampleKind, Workload


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


def charts_of(
    workload: Workload, run: int | None = None, view: ChartView | None = None
) -> list[Chart]:
    reported = read_training([MetricSource(workload.pk, run)])[0]
    return training.training_charts(reported, view or ChartView())


def test_a_long_training_has_a_bounded_number_of_points(workload: Workload) -> None:
    samples(workload, SampleKind.TRAINING, 3001)
    loss = next(one for one in charts_of(workload) if one.name == "loss").lines[0]
    assert 300 <= len(loss.x) <= chart.MOST_POINTS
    assert len(loss.x) == len(loss.y)
    assert loss.x == sorted(loss.x)
    assert loss.x[-1] == 3000, "the newest"


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
        loss, val_loss = next(iter(charts_of(workload))).lines
        assert (loss.label, val_loss.label) == ("loss", "val_loss")
        assert loss.y.count(9.0) >= (row.step or 0) // 47 * 0.6
        assert len(val_loss.x) == (row.step or 0) // 20
        assert len(loss.x) <= chart.MOST_POINTS


def test_a_chart_has_a_gap_and_a_mark_where_a_number_is_not_finite(workload: Workload) -> None:
    samples(workload, SampleKind.TRAINING, 5)
    nan = workload.samples.get(step=2)
    nan.values["loss"] = "NaN"
    nan.save()
    loss = next(iter(charts_of(workload)))
    assert loss.lines[0].x == [0, 1, 2, 3, 4]
    assert loss.lines[0].y == [1, 1 / 2, None, 1 / 4, 1 / 5]
    assert loss.marks == [(2, "NaN")]


def test_the_highest_spike_stays_whatever_the_width() -> None:
    points = [(float(step), 9.0 if step == 4100 else 1.0) for step in range(20_000)]
    for count in range(5_000, 20_000, 501):
        assert (4100.0, 9.0) in thin_points(points[:count], 600)


def test_a_step_that_is_done_twice_shows_its_later_sample(workload: Workload) -> None:
    samples(workload, SampleKind.TRAINING, 10, run=1)
    samples(workload, SampleKind.TRAINING, 5, run=2, later=60)
    run = next(one for one in charts_of(workload) if one.name == "run")
    assert run.lines[0].y == [2.0] * 5 + [1.0] * 5
    assert next(iter(charts_of(workload, run=2))).lines[0].x == [0, 1, 2, 3, 4]


def test_ranks_that_report_the_same_are_a_band_or_a_line_each(workload: Workload) -> None:
    for rank in (0, 1, 2):
        samples(workload, SampleKind.TRAINING, 5, rank=rank, run=rank)
    charts = {one.name: one for one in charts_of(workload)}
    (band,) = charts["run"].lines
    assert band.label == "median of 3 ranks"
    assert (band.low, band.y, band.high) == ([0.0] * 5, [1.0] * 5, [2.0] * 5)
    assert "epoch" not in charts
    lines = charts_of(workload, view=ChartView(ranks=LINES))[0].lines
    assert [line.label for line in lines] == ["rank 0", "rank 1", "rank 2"]


def test_a_band_keeps_the_ends_of_each_bucket() -> None:
    points = [(float(x), 1.0, -9.0 if x == 501 else 0.0, 2.0) for x in range(1000)]
    thinned = thin_bands(points, 100)
    assert 50 <= len(thinned) <= 100
    assert min(low for _, _, low, _ in thinned if low is not None) == -9.0
    assert thinned[-1][0] == 999


def test_a_band_has_a_mark_where_one_rank_is_not_finite(workload: Workload) -> None:
    for rank in (0, 1):
        samples(workload, SampleKind.TRAINING, 2000, rank=rank)
    workload.samples.filter(rank=1, step=777).update(values={"loss": "NaN"})
    loss = charts_of(workload)[0]
    ((place, text),) = loss.marks
    assert text == "NaN"
    assert place in loss.lines[0].x
    assert 777 <= place < 780


def test_later_starts_and_checkpoints_have_markers(workload: Workload) -> None:
    samples(workload, SampleKind.TRAINING, 10, run=1)
    samples(workload, SampleKind.TRAINING, 10, run=2, later=60)
    Attempt.objects.create(workload=workload, run=2, attempt=0, resumed_step=4)
    first = workload.samples.earliest("at").at
    saved_at = (first + timedelta(seconds=5)).isoformat()
    workload.checkpoints = [{"run": 1, "step": 4, "at": saved_at, "bytes": None}]
    reported = read_training([MetricSource(workload.pk)])[0]
    by_step = find_markers(workload, None, reported, ChartView())[Axis.STEP]
    assert [(it.kind, it.x, it.text) for it in by_step] == [
        ("start", 4, "run 2, from step 4"),
        ("checkpoint", 4, "4"),
    ]
    relative = ChartView(axis=Axis.RELATIVE)
    by_time = find_markers(workload, None, reported, relative)[Axis.RELATIVE]
    assert [round(it.x) for it in by_time] == [60, 5]
    assert not find_markers(workload, None, reported, ChartView(low=5))[Axis.STEP]


def test_a_range_is_drawn_in_full(workload: Workload) -> None:
    samples(workload, SampleKind.TRAINING, 3001)
    loss = charts_of(workload, view=ChartView(low=100, high=199))[0].lines[0]
    assert loss.x == list(range(100, 200))


def test_time_counts_from_the_first_sample_or_is_that_of_the_day(workload: Workload) -> None:
    samples(workload, SampleKind.TRAINING, 3)
    samples(workload, SampleKind.USAGE, 3, later=1)
    assert charts_of(workload, view=ChartView(axis=Axis.RELATIVE))[0].lines[0].x == [0, 1, 2]
    first = workload.samples.earliest("at").at.timestamp()
    clock = charts_of(workload, view=ChartView(axis=Axis.CLOCK))[0].lines[0].x
    assert clock[0] == pytest.approx(first, abs=0.01)
    cpu = usage.usage_charts(workload, view=ChartView(axis=Axis.RELATIVE), origin=first)[0]
    assert cpu.lines[0].x[0] == pytest.approx(1, abs=1)
    assert cpu.lines[0].x[0] >= 0


@pytest.mark.parametrize("ranks", [1, 3])
def test_usage_has_a_line_a_rank(workload: Workload, ranks: int) -> None:
    for rank in range(ranks):
        samples(workload, SampleKind.USAGE, 1000, rank=rank)
    cpu, memory = usage.usage_charts(workload)
    assert (cpu.name, memory.name) == ("cpu", "memory")
    assert [line.label for line in cpu.lines] == ["master-0", "worker-0", "worker-1"][:ranks]
    assert all(len(line.x) == len(line.y) for line in cpu.lines)
    (band,) = usage.usage_charts(workload, view=ChartView(ranks=BAND))[0].lines[:1]
    assert bool(band.low) == (workload.num_pods > 1)


def test_the_numbers_of_the_charts_come_as_json(client: Client, workload: Workload) -> None:
    samples(workload, SampleKind.TRAINING, 3)
    found = client.get(f"/workloads/{workload.pk}/metrics/data/?run=1").json()
    assert [one["name"] for one in found["training"]] == ["loss", "run"]
    assert found["usage"] == []
    address = f"/workloads/{workload.pk}/metrics/data/?run=2"
    assert client.get(address).json()["training"] == []
    odd = f"/workloads/{workload.pk}/metrics/data/?run=x&x=moon&from=nan&to=1e999&ranks=all"
    assert client.get(odd).status_code == 200


def test_all_samples_come_as_a_file(client: Client, workload: Workload) -> None:
    samples(workload, SampleKind.TRAINING, 2000)
    workload.samples.filter(step=1).update(values={"loss": -1.5, "=odd": 1})
    address = f"/workloads/{workload.pk}/metrics/samples"
    lines = client.get(f"{address}.csv?name=loss").content.decode().splitlines()
    assert lines[0] == "workload,run,attempt,rank,step,time,loss"
    assert len(lines) == 2001
    assert lines[2].endswith(",-1.5")
    assert lines[2].startswith(f"{workload.name},1,1,0,1,")
    everything = client.get(f"{address}.csv").content.decode().splitlines()
    assert "'=odd" in everything[0]
    rows = client.get(f"{address}.json?run=1&name=loss").json()
    assert rows[1]["loss"] == -1.5
    assert client.get(f"{address}.json?run=2").json() == []
