"""Output and usage come into our own store, each byte and each sample once."""

import errno
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from engines.base import Launch, UsageSample
from engines.fake import FakeEngine
from engines.logs import Log
from spec.phases import Phase
from tests.factories import WorkloadFactory
from workloads import logs, services
from workloads.metrics import parse
from workloads.models import Attempt, Sample, SampleKind, Workload
from workloads.worker import collect

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def store(tmp_path: Path, settings: Settings) -> None:
    settings.LOG_STORE = tmp_path


@pytest.fixture
def workload(db: None) -> Workload:
    return WorkloadFactory(running=True, attempt=0, observed_run=1)


@pytest.fixture
def engine(workload: Workload) -> FakeEngine:
    engine = FakeEngine()
    engine.submit(Launch(workload.handle, run=1, spec=workload.spec))
    return engine


def once(engine: FakeEngine, workload: Workload, *, seconds: float = 5) -> Workload:
    fresh = Workload.objects.select_related("project", "cluster").get(pk=workload.pk)
    collect.collect_workload(engine, fresh, time.monotonic() + seconds)
    return Workload.objects.get(pk=workload.pk)


def text(workload: Workload, rank: int, *, run: int = 1, attempt: int = 0) -> str:
    return logs.read_output(logs.Stream(workload.pk, run, attempt, rank), 0, 10**7).decode()


def test_output_of_every_rank_comes_once(engine: FakeEngine, workload: Workload) -> None:
    engine.print(workload.handle, 0, "hello\n")
    engine.print(workload.handle, 2, '{"step": 1, "loss": 0.5}\n')
    once(engine, workload)
    engine.print(workload.handle, 0, "again\n")
    after = once(engine, workload)
    assert text(workload, 0) == "hello\nagain\n"
    assert after.last_metrics == {"step": 1, "loss": 0.5}
    assert after.logs_complete is False


def test_the_last_metrics_are_the_newest_of_each_name(
    engine: FakeEngine, workload: Workload
) -> None:
    lines = ['{"step": 1, "loss": 0.5}', '{"step": 2, "loss": 0.1}', '{"step": 2, "test": 0.9}']
    engine.print(workload.handle, 0, "\n".join(lines) + "\n")
    after = once(engine, workload)
    assert after.last_metrics == {"step": 2, "loss": 0.1, "test": 0.9}
    assert after.curves == {"loss": [[1, 0.5], [2, 0.1]]}


@pytest.mark.parametrize("where", ["before", "within"])
def test_a_crash_keeps_each_sample_exactly_once(
    where: str, engine: FakeEngine, workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*args: object) -> None:
        raise RuntimeError("killed")

    engine.print(workload.handle, 0, '{"step": 1, "loss": 2}\n{"step": 2, "loss": 1}\n')
    with monkeypatch.context() as patch:
        patch.setattr(parse, "_store_batch" if where == "before" else "_remember_last", crash)
        with pytest.raises(RuntimeError):
            once(engine, workload)
    assert text(workload, 0).count("step") == 2
    once(engine, workload)
    once(engine, workload)
    assert list(Sample.objects.order_by("step").values_list("step", flat=True)) == [1, 2]


def test_two_collectors_keep_a_sample_once(engine: FakeEngine, workload: Workload) -> None:
    engine.print(workload.handle, 0, '{"step": 1}\n')
    once(engine, workload, seconds=-1)  # notes the attempt
    mine = Attempt.objects.get()
    theirs = Attempt.objects.get()
    once(engine, workload)
    assert parse.store_samples(workload, theirs, 0) is False
    assert parse.store_samples(workload, mine, 0) is False
    assert Sample.objects.count() == 1


def test_a_line_that_comes_in_two_pieces_is_one_sample(
    engine: FakeEngine, workload: Workload
) -> None:
    engine.print(workload.handle, 1, '{"step": 7, "lo')
    once(engine, workload)
    assert not Sample.objects.exists()
    engine.print(workload.handle, 1, 'ss": 0.25}\n')
    once(engine, workload)
    assert Sample.objects.get().values == {"loss": 0.25}


def test_the_last_line_needs_no_newline(engine: FakeEngine, workload: Workload) -> None:
    engine.print(workload.handle, 1, '{"step": 6, "loss": 0.5}\n{"step": 7, "loss": 0.25}')
    assert once(engine, workload).last_metrics == {"step": 6, "loss": 0.5}
    Workload.objects.update(phase=Phase.COMPLETED)
    assert once(engine, workload).last_metrics == {"step": 7, "loss": 0.25}
    assert Sample.objects.count() == 2


def test_attempts_far_behind_are_collected_too(engine: FakeEngine, workload: Workload) -> None:
    for attempt in range(5):
        engine.print(workload.handle, 0, f"attempt {attempt}\n", attempt=attempt)
    Workload.objects.update(attempt=4, phase=Phase.FAILED)
    assert once(engine, workload).logs_complete is True
    assert [text(workload, 0, attempt=n) for n in range(5)] == [f"attempt {n}\n" for n in range(5)]


def test_a_run_that_was_resumed_before_its_end_came_here(
    engine: FakeEngine, workload: Workload
) -> None:
    engine.print(workload.handle, 0, "the last words of run 1\n")
    Workload.objects.update(phase=Phase.STOPPED)
    stopped = Workload.objects.get()
    services.resume(stopped, by=workload.created_by)
    engine.print(workload.handle, 0, "run 2\n", run=2)
    once(engine, workload)
    assert text(workload, 0, run=1) == "the last words of run 1\n"
    assert text(workload, 0, run=2) == "run 2\n"


def test_a_collected_log_is_complete_only_when_nothing_is_left_to_read(
    engine: FakeEngine, workload: Workload
) -> None:
    engine.print(workload.handle, 0, "x" * 600_000)
    Workload.objects.update(phase=Phase.COMPLETED)
    assert once(engine, workload, seconds=-1).logs_complete is False
    assert once(engine, workload).logs_complete is True
    assert len(text(workload, 0)) == 600_000


def test_a_round_out_of_time_leaves_the_rest_to_the_next(
    engine: FakeEngine, workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.print(workload.handle, 0, "hello\n")
    monkeypatch.setattr(collect, "engine_for", lambda cluster: engine)
    for seconds, kept in ((-1, ""), (60, "hello\n")):
        monkeypatch.setattr(collect, "ROUND_SECONDS", seconds)
        collect.collect_output(workload.cluster)
        assert text(workload, 0) == kept


def test_a_full_disk_stops_nobody_else(
    engine: FakeEngine,
    workload: Workload,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    other = WorkloadFactory(project=workload.project, running=True, attempt=0, observed_run=1)
    for one in (workload, other):
        engine.print(one.handle, 0, "hello\n")
    monkeypatch.setattr(collect, "ROUND_SECONDS", 60)
    keep = logs.append_output

    def full(stream: logs.Stream, *arguments: Any, **more: Any) -> None:
        if stream.workload_id == workload.pk:
            raise OSError(errno.ENOSPC, "No space left on device")
        keep(stream, *arguments, **more)

    monkeypatch.setattr(logs, "append_output", full)
    monkeypatch.setattr(collect, "engine_for", lambda cluster: engine)
    collect.collect_output(workload.cluster)
    assert text(other, 0) == "hello\n"
    (record,) = [it for it in caplog.records if it.name == collect.__name__]
    assert "No space left on device" in record.getMessage()
    assert record.exc_info is None, "it is no defect"


def test_usage_is_kept_once(engine: FakeEngine, workload: Workload) -> None:
    for second in range(3):
        at = NOW + timedelta(seconds=second)
        engine.use(workload.handle, UsageSample(0, 0, at, cpu=0.5, memory=1_000_000))
        once(engine, workload)
    samples = Sample.objects.filter(kind=SampleKind.USAGE)
    assert [sample.values["cpu"] for sample in samples] == [0.5, 0.5, 0.5]


def test_usage_is_of_the_attempt_that_prints(engine: FakeEngine, workload: Workload) -> None:
    """A pod made anew counts its starts from 0 again."""
    for number, (origin, start) in enumerate([("a", 0), ("a", 1), ("b", 0), ("a", 1)]):
        stream = logs.stream_of_log(workload.pk, Log(workload.run, 0, start, origin))
        at = NOW + timedelta(seconds=number)
        engine.use(workload.handle, UsageSample(0, start, at, 0.5, 1_000_000, origin=origin))
        once(engine, workload)
        assert Sample.objects.order_by("-at")[0].attempt == stream.attempt
    attempts = Sample.objects.order_by("at").values_list("attempt", flat=True)
    assert list(attempts) == [0, 1, 2, 1]


def test_resumption_is_noted_once(engine: FakeEngine, workload: Workload) -> None:
    line = '{"event": "resumed", "step": 120, "epoch": 1}\n'
    for rank in range(3):
        engine.print(workload.handle, rank, line)
    once(engine, workload)
    engine.print(workload.handle, 0, line)
    once(engine, workload)
    assert Attempt.objects.get().resumed_step == 120
    events = workload.events.filter(source="training")
    assert [event.message for event in events] == ["Training resumed from step 120."]
