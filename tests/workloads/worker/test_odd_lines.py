"""One odd line that a rank printed stops nothing: its numbers are kept or it is text."""

from pathlib import Path

import pytest
from django.db import DataError
from django.utils import timezone
from pytest_django import Settings

from engines.base import Launch, Observation
from engines.fake import FakeEngine
from spec.phases import Phase
from tests.factories import WorkloadFactory
from workloads import logs, reconcile
from workloads.metrics import parse
from workloads.models import Attempt, Sample, Workload
from workloads.worker import collect, monitor

GOOD = b'{"step": 7, "loss": 0.5}\n'
ODD = {
    "a NUL in a name": rb'{"step": 1, "a\u0000b": 2}',
    "a surrogate in a name": rb'{"step": 1, "\ud800": 2}',
    "a raw NUL": b'{"step": 1, "a\0b": 2}',
    "a raw surrogate": b'{"step": 1, "\xed\xa0\x80": 2}',
    "a long name": b'{"step": 1, "' + b"n" * 5000 + b'": 2}',
    "a huge step": b'{"step": 9223372036854775808, "a": 2}',
    "the largest step": b'{"step": 9223372036854775807, "a": 2}',
    "a huge number": b'{"step": 1, "a": ' + b"9" * 4000 + b"}",
    "infinity": b'{"step": 1, "a": Infinity, "b": -1e999, "c": NaN}',
    "many names": b"{" + b", ".join(b'"m%d": 1' % n for n in range(900)) + b', "step": 1}',
    "deep": b'{"step": 1, "a": ' + b"[" * 4000 + b"]" * 4000 + b"}",
    "an odd event": b'{"step": 1e300, "event": "resumed"}',
    "bytes": bytes(range(256)).replace(b"\n", b""),
}


@pytest.fixture(autouse=True)
def store(tmp_path: Path, settings: Settings) -> None:
    settings.LOG_STORE = tmp_path


@pytest.fixture
def workload(db: None) -> Workload:
    return WorkloadFactory(running=True, attempt=0, observed_run=1)


@pytest.fixture
def engine(workload: Workload, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    engine = FakeEngine()
    engine.submit(Launch(workload.handle, run=1, spec=workload.spec))
    monkeypatch.setattr(collect, "engine_for", lambda cluster: engine)
    monkeypatch.setattr(collect, "ROUND_SECONDS", 60)
    return engine


def steps() -> list[int | None]:
    return list(Sample.objects.order_by("pk").values_list("step", flat=True))


@pytest.mark.parametrize("line", ODD.values(), ids=ODD.keys())
def test_an_odd_line_is_passed_and_the_next_one_read(
    engine: FakeEngine, workload: Workload, line: bytes
) -> None:
    logs.append(logs.Stream(workload.pk, 1, 0, 0), line + b"\n" + GOOD)
    collect.collect_output(workload.cluster)
    assert steps()[-1] == 7
    assert Workload.objects.get().last_metrics["loss"] == 0.5


def test_a_line_of_50_megabytes_is_passed_in_bounded_pieces(
    engine: FakeEngine, workload: Workload
) -> None:
    stream = logs.Stream(workload.pk, 1, 0, 0)
    for _ in range(50):
        logs.append(stream, b"x" * 2**20)
    logs.append(stream, b"\n" + GOOD)
    collect.collect_output(workload.cluster)
    assert steps() == [7]


@pytest.mark.parametrize("error", [DataError("integer out of range"), ValueError("a row")])
def test_something_seen_that_no_column_holds_stops_no_monitor(
    workload: Workload, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(*_: object) -> bool:
        raise error

    monkeypatch.setattr(reconcile, "apply", broken)
    monitor.apply_observation(Observation(workload.pk, 1, 7, Phase.RUNNING, timezone.now()))
    assert Workload.objects.get().observed_sequence == 0


def test_output_that_nobody_foresaw_keeps_back_that_workload_alone(
    engine: FakeEngine, workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = WorkloadFactory(project=workload.project, running=True, attempt=0, observed_run=1)
    engine.submit(Launch(other.handle, run=1, spec=other.spec))
    for one in (workload, other):
        engine.print(one.handle, 0, GOOD.decode())
    record = parse.store_samples

    def broken(of: Workload, attempt: Attempt, deadline: float, *, ended: bool) -> bool:
        if of.pk == workload.pk:
            raise RuntimeError("a line that nobody foresaw")
        return record(of, attempt, deadline, ended=ended)

    with monkeypatch.context() as patch:
        patch.setattr(parse, "store_samples", broken)
        collect.collect_output(workload.cluster)
        assert {sample.workload_id for sample in Sample.objects.all()} == {other.pk}
    collect.collect_output(workload.cluster)
    assert {sample.workload_id for sample in Sample.objects.all()} == {workload.pk, other.pk}
