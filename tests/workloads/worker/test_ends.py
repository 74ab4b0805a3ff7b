"""When the end of a run is announced, its last numbers are in the database."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

import pytest
from django.db.models import F

from clusters.models import Cluster
from engines.base import ClusterEvent, EngineUnavailable, Handle, Observation, RankState
from engines.fake import FakeEngine
from engines.logs import Log, LogChunk
from projects.models import Project
from spec.phases import Phase, RankPhase, Reason
from spec.workload import Role
from tests.factories import WorkloadFactory
from tests.workloads.gangs import now
from workloads import services, tasks
from workloads.history import events
from workloads.launch import launch_with_secrets
from workloads.models import Workload
from workloads.worker import collect, ends, monitor

pytestmark = pytest.mark.django_db
LAST = '{"step": 900, "loss": 0.25}\n'
NUMBERS = {"step": 900, "loss": 0.25}


def running(engine: FakeEngine, project: Project) -> Workload:
    workload: Workload = WorkloadFactory(running=True, attempt=0, project=project)
    engine.submit(launch_with_secrets(workload))
    monitor.apply_observation(engine.show(workload.handle, Phase.RUNNING))
    return now(workload)


@dataclass
class Told:
    """Applies what is told, and keeps the last numbers that were there before."""

    numbers: list[dict[str, float]] = field(default_factory=list)

    def __call__(self, observation: Observation) -> None:
        self.numbers.append(Workload.objects.get(pk=observation.workload_id).last_metrics)
        monitor.apply_observation(observation)


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> set[bool]:
    """While something is in it, no log of the fake has come to its end."""
    holds: set[bool] = set()
    read = FakeEngine.read_log

    def read_log(self: FakeEngine, handle: Handle, log: Log, **where: object) -> LogChunk:
        chunk = read(self, handle, log, **where)  # type: ignore[arg-type]  # passed on as it came
        return LogChunk(chunk.data, chunk.cursor, ended=chunk.ended and not holds)

    monkeypatch.setattr(FakeEngine, "read_log", read_log)
    monkeypatch.setattr(ends, "MAX_CHECK_SECONDS", 0.0)
    return holds


@pytest.mark.usefixtures("valkey")
@pytest.mark.parametrize("phase", [Phase.COMPLETED, Phase.FAILED, Phase.STOPPED])
def test_the_last_sample_is_there_when_the_monitor_tells_the_end(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch, phase: Phase
) -> None:
    workload = running(engine, project)
    numbers = {}
    event: Callable[..., object] = events.record_phase

    def phase_told(row: Workload, **how: object) -> None:
        numbers[row.phase] = Workload.objects.get(pk=row.pk).last_metrics
        event(row, **how)

    def end() -> list[ClusterEvent]:
        """While the watch goes on, which is over then."""
        if now(workload).phase == Phase.RUNNING:
            engine.print(workload.handle, 0, LAST)
            engine.show(workload.handle, phase)
        else:
            Cluster.objects.update(connection_version=F("connection_version") + 1)
        return []

    monkeypatch.setattr(events, "record_phase", phase_told)
    monkeypatch.setattr(monitor, "CONNECTION_CHECK_SECONDS", 0.0)
    monkeypatch.setattr(engine, "events", end)
    assert monitor.watch_cluster(project.cluster)
    assert numbers == {phase: NUMBERS}
    monitor.close_resting_watch(project.cluster.pk)


def test_the_last_sample_at_the_end_of_an_attempt_is_stored(
    engine: FakeEngine, project: Project
) -> None:
    workload = running(engine, project)
    told = Told()
    engine.print(workload.handle, 0, LAST, attempt=1)
    pending = ends.PendingEnds(project.cluster, told)
    pending.handle(engine.show(workload.handle, Phase.COMPLETED, attempt=1))
    assert told.numbers == [NUMBERS]
    assert now(workload).phase == Phase.COMPLETED


def test_an_end_waits_for_a_log_that_is_still_coming(
    engine: FakeEngine, project: Project, late: set[bool]
) -> None:
    workload = running(engine, project)
    other = running(engine, project)
    told = Told()
    pending = ends.PendingEnds(project.cluster, told)
    engine.print(workload.handle, 0, "first words\n")
    late.add(True)
    pending.handle(engine.show(workload.handle, Phase.COMPLETED))
    pending.handle(engine.show(other.handle, Phase.DEGRADED))
    pending.store_ready()
    assert [now(row).phase for row in (workload, other)] == [Phase.RUNNING, Phase.DEGRADED]
    engine.print(workload.handle, 0, LAST)
    late.clear()
    pending.store_ready()
    assert told.numbers[-1] == NUMBERS
    assert now(workload).phase == Phase.COMPLETED


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_a_log_that_never_ends_keeps_no_end_back_for_long(
    engine: FakeEngine,
    project: Project,
    late: set[bool],
    monkeypatch: pytest.MonkeyPatch,
    patience: float,
) -> None:
    monkeypatch.setattr(ends, "LONGEST_SECONDS", patience)
    workload = running(engine, project)
    pending = ends.PendingEnds(project.cluster, Told())
    engine.print(workload.handle, 0, "first words\n")
    late.add(True)
    pending.handle(engine.show(workload.handle, Phase.COMPLETED))
    pending.store_ready()
    assert (now(workload).phase == Phase.COMPLETED) is (patience == 0)
    pending.store_all()
    assert now(workload).phase == Phase.COMPLETED
    assert not now(workload).is_settled, "more of its log may come"
    late.clear()
    collect.collect_output(project.cluster)
    assert now(workload).is_settled


def test_an_end_waits_for_no_log_that_nobody_can_read(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its node is not there, for instance: nothing of it comes within moments."""

    def read_log(*_: object, **where: object) -> LogChunk:
        return LogChunk(cursor=str(where["cursor"]), late="no route to host", awaited=False)

    workload = running(engine, project)
    engine.print(workload.handle, 0, LAST)
    monkeypatch.setattr(engine, "read_log", read_log)
    pending = ends.PendingEnds(project.cluster, monitor.apply_observation)
    pending.handle(engine.show(workload.handle, Phase.COMPLETED))
    assert now(workload).phase == Phase.COMPLETED
    assert not now(workload).is_settled, "it may come later"
    monkeypatch.undo()
    collect.collect_output(project.cluster)
    after = now(workload)
    assert (after.is_settled, after.last_metrics) == (True, NUMBERS)


def test_the_next_run_finds_the_end_of_the_one_before_told(
    engine: FakeEngine, project: Project, late: set[bool]
) -> None:
    workload = running(engine, project)
    told = Told()
    pending = ends.PendingEnds(project.cluster, told)
    engine.print(workload.handle, 0, "first words\n")
    late.add(True)
    pending.handle(engine.show(workload.handle, Phase.STOPPED))
    pending.handle(engine.show(workload.handle, Phase.RUNNING))
    assert len(told.numbers) == 2, "the end, then what came after it"


@pytest.mark.parametrize("error", [EngineUnavailable("away"), OSError("no space"), ValueError("?")])
def test_a_log_that_cannot_be_had_stops_no_monitor(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    workload = running(engine, project)
    engine.print(workload.handle, 0, LAST)
    end = engine.show(workload.handle, Phase.COMPLETED)
    pending = ends.PendingEnds(project.cluster, monitor.apply_observation)
    monkeypatch.setattr(engine, "read_log", fail)
    pending.handle(end)
    assert now(workload).phase == Phase.RUNNING
    pending.store_all()
    assert now(workload).phase == Phase.COMPLETED


def test_a_stop_leaves_an_end_without_its_last_words_to_the_monitor(
    engine: FakeEngine, project: Project, late: set[bool]
) -> None:
    workload = running(engine, project)
    engine.print(workload.handle, 0, LAST)
    assert workload.created_by
    services.stop(workload, by=workload.created_by)
    late.add(True)
    tasks.stop(str(workload.pk))
    assert now(workload).phase == Phase.STOPPING
    late.clear()
    tasks.stop(str(workload.pk))
    after = now(workload)
    assert (after.phase, after.last_metrics) == (Phase.STOPPED, NUMBERS)


@pytest.mark.usefixtures("valkey")
def test_pages_hear_when_the_last_output_is_here(
    engine: FakeEngine, project: Project, late: set[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they heard of the end said that there is more to come."""
    workload = running(engine, project)
    engine.print(workload.handle, 0, "first words\n")
    late.add(True)
    monitor.apply_observation(engine.show(workload.handle, Phase.COMPLETED))
    heard: list[UUID] = []
    monkeypatch.setattr(events, "announce", lambda row: heard.append(row.pk))
    collect.collect_workload(engine, now(workload), time.monotonic() + 5)
    assert (now(workload).is_settled, heard) == (False, [])
    late.clear()
    collect.collect_workload(engine, now(workload), time.monotonic() + 5)
    collect.collect_workload(engine, now(workload), time.monotonic() + 5)
    assert (now(workload).is_settled, heard) == (True, [workload.pk])


def test_the_class_of_a_failure_is_stored_with_its_phase(
    engine: FakeEngine, project: Project
) -> None:
    workload = running(engine, project)
    engine.print(workload.handle, 0, "torch.OutOfMemoryError: CUDA out of memory. Tried to\n")
    classes = []

    def store(observation: Observation) -> None:
        monitor.apply_observation(observation)
        stored = now(workload)
        classes.append((stored.phase, stored.failure_class))

    pending = ends.PendingEnds(project.cluster, store)
    failed = RankState(0, Role.MASTER, 0, RankPhase.FAILED, exit_code=1)
    pending.handle(engine.show(workload.handle, Phase.FAILED, ranks=[failed]))
    assert classes == [(Phase.FAILED, "cuda-out-of-memory")]


def test_a_time_limit_is_the_class_at_once(engine: FakeEngine, project: Project) -> None:
    workload = running(engine, project)
    values = {"phase": Phase.STOPPING, "reason": Reason.DEADLINE_EXCEEDED}
    Workload.objects.filter(pk=workload.pk).update(**values)
    monitor.apply_observation(engine.show(workload.handle, Phase.STOPPED))
    stored = now(workload)
    assert (stored.phase, stored.failure_class) == (Phase.FAILED, "time-limit")
