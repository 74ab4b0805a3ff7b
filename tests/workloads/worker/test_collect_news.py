"""Only the new output of an engine that reports it is read; it counts attempts by its pods."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import pytest
from pytest_django import DjangoAssertNumQueries, Settings

from engines.base import EngineUnavailable, Handle, Launch
from engines.fake import FakeEngine
from engines.logs import Log, LogChunk
from spec.phases import Phase
from tests.factories import WorkloadFactory
from workloads import logs
from workloads.models import Workload
from workloads.worker import collect

Text = dict[Log, list[bytes]]


@dataclass
class Pods(FakeEngine):
    """What pods printed, as pieces; the cursor counts them."""

    texts: dict[UUID, Text] = field(default_factory=dict)
    over: set[Log] = field(default_factory=set)
    fresh: set[UUID] = field(default_factory=set)
    asked: list[UUID] = field(default_factory=list)

    def news(self) -> set[UUID]:  # type: ignore[override] # the plain fake knows nothing
        found = self.fresh
        self.fresh = set()
        return found

    def logs(self, handle: Handle, *, run: int) -> list[Log]:
        self._check()
        self.asked.append(handle.workload_id)
        return [log for log in self.texts.get(handle.workload_id, {}) if log.run == run]

    def read_log(
        self, handle: Handle, log: Log, *, offset: int, cursor: str, limit: int
    ) -> LogChunk:
        pieces = self.texts[handle.workload_id][log]
        at = int(cursor or 0)
        if at < len(pieces):
            return LogChunk(pieces[at], str(at + 1))
        return LogChunk(cursor=cursor, ended=log in self.over)

    def says(self, workload: Workload, log: Log, text: bytes) -> None:
        self.texts.setdefault(workload.pk, {}).setdefault(log, []).append(text)
        self.fresh.add(workload.pk)


@pytest.fixture
def engine(
    db: None, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Pods]:
    settings.LOG_STORE = tmp_path
    made = Pods()
    monkeypatch.setattr(collect, "engine_for", lambda _cluster: made)
    monkeypatch.setattr(collect, "ROUND_SECONDS", 60)
    yield made
    collect.queues.clear()


def running(engine: Pods, **fields: object) -> Workload:
    workload: Workload = WorkloadFactory(running=True, attempt=0, observed_run=1, **fields)
    engine.submit(Launch(workload.handle, run=1, spec=workload.spec))
    return workload


def text(workload: Workload, attempt: int = 0) -> bytes:
    return logs.read_output(logs.Stream(workload.pk, 1, attempt, 0), 0, 10**6)


def test_a_workload_without_new_output_is_not_asked_for_its_log(engine: Pods) -> None:
    first = running(engine)
    quiet = running(engine, project=first.project)
    engine.says(first, Log(1, 0, 0, "pod"), b"hello\n")
    for _ in range(3):
        collect.collect_output(first.cluster)
    assert text(first) == b"hello\n"
    assert engine.asked == [first.pk]
    assert quiet.pk not in engine.asked


def test_quiet_workloads_cost_the_database_nothing(
    engine: Pods, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    cluster = running(engine).cluster
    collect.collect_output(cluster)
    with django_assert_num_queries(0):
        collect.collect_output(cluster)


def test_news_that_could_not_be_had_are_asked_for_again(engine: Pods) -> None:
    workload = running(engine)
    engine.says(workload, Log(1, 0, 0, "pod"), b"hello\n")
    engine.raises = EngineUnavailable("away")
    collect.collect_output(workload.cluster)
    engine.raises = None
    collect.collect_output(workload.cluster)
    assert text(workload) == b"hello\n"


def test_a_pod_made_anew_is_an_attempt_of_the_gang(engine: Pods) -> None:
    workload = running(engine)
    engine.says(workload, Log(1, 0, 0, "pod"), b"first\n")
    collect.collect_output(workload.cluster)
    del engine.texts[workload.pk]
    engine.says(workload, Log(1, 0, 0, "another"), b"second\n")
    collect.collect_output(workload.cluster)
    collect.collect_output(workload.cluster)
    workload.refresh_from_db()
    assert workload.attempt == 1
    assert (text(workload), text(workload, 1)) == (b"first\n", b"second\n")
    assert [e.message for e in workload.events.all()] == ["Attempt 2 of the gang starts."]


def test_collected_output_is_complete_when_the_log_of_every_pod_has_ended(engine: Pods) -> None:
    workload = running(engine)
    log = Log(1, 0, 0, "pod")
    engine.says(workload, log, b"last words\n")
    Workload.objects.update(phase=Phase.COMPLETED)
    collect.collect_output(workload.cluster)
    assert not Workload.objects.get().logs_complete
    engine.over.add(log)
    engine.fresh.add(workload.pk)
    collect.collect_output(workload.cluster)
    assert Workload.objects.get().logs_complete
    assert workload.attempts.get().complete


def test_an_end_of_a_workload_without_output_is_found_by_the_sweep(
    engine: Pods, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = running(engine)
    monkeypatch.setattr(collect, "SWEEP_SECONDS", -1)
    Workload.objects.update(phase=Phase.FAILED)
    collect.collect_output(workload.cluster)
    assert Workload.objects.get().logs_complete
