"""A deletion takes the workload from its cluster; what it printed and measured stays a while."""

import errno
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from engines.base import EngineUnavailable
from engines.fake import FakeEngine
from projects import services as projects
from projects.models import Project
from spec.phases import Phase, RankPhase
from tests.factories import UserFactory, WorkloadFactory
from tests.workloads.gangs import now
from workloads import logs, services, tasks
from workloads.launch import launch_with_secrets
from workloads.models import Event, Sample, Workload
from workloads.worker import collect, ends, monitor, sweep

pytestmark = pytest.mark.django_db
LAST = '{"step": 900, "loss": 0.25}\n'
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may need longer for a line than the worker waits before it tries again."""
    monkeypatch.setattr(ends, "REMOVAL_SECONDS", 60.0)


@pytest.fixture
def running(engine: FakeEngine, project: Project) -> Workload:
    workload: Workload = WorkloadFactory(running=True, attempt=0, project=project)
    engine.submit(launch_with_secrets(workload))
    monitor.apply_observation(engine.show(workload.handle, Phase.RUNNING))
    return now(workload)


def delete(workload: Workload) -> Workload:
    services.delete(workload, by=None)
    tasks.delete(str(workload.pk))
    return now(workload)


def printed(workload: Workload) -> bytes:
    return logs.read_output(logs.Stream(workload.pk, 1, 0, 0), 0, 10_000)


def test_deletion_keeps_output_numbers_and_events(engine: FakeEngine, running: Workload) -> None:
    engine.print(running.handle, 0, LAST)
    after = delete(running)
    assert engine.deletes == [running.pk]
    assert printed(after) == LAST.encode(), "nobody had collected it before"
    assert after.last_metrics == {"step": 900, "loss": 0.25}
    assert after.events.filter(phase=Phase.DELETING).exists()
    assert (bool(after.deleted_at), after.running_pods, after.logs_complete) == (True, 0, True)
    assert set(after.ranks.values_list("phase", flat=True)) == {RankPhase.STOPPED}
    assert not Workload.objects.visible_to(UserFactory(administrator=True)).exists()
    sweep.prune()
    assert printed(after) == LAST.encode()


def test_a_deleted_workload_keeps_how_it_ended(engine: FakeEngine, running: Workload) -> None:
    """Its end and the words of it, not that it was deleted."""
    gone = replace(engine.show(running.handle, Phase.FAILED), message="worker-0 is out of memory")
    monitor.apply_observation(gone)
    failed = delete(running)
    assert (failed.phase, failed.message) == (Phase.FAILED, "worker-0 is out of memory")
    again = WorkloadFactory(running=True, project=running.project, run=2)
    Event.objects.create(workload=again, phase=Phase.STOPPED)
    Event.objects.create(workload=again, phase=Phase.RUNNING)
    assert delete(again).phase == Phase.STOPPED


def test_an_attempt_that_nobody_has_heard_of_yet_is_collected_too(
    engine: FakeEngine, running: Workload
) -> None:
    engine.print(running.handle, 0, LAST, attempt=1)
    delete(running)
    assert logs.read_output(logs.Stream(running.pk, 1, 1, 0), 0, 100) == LAST.encode()


def test_output_that_takes_longer_than_a_moment_holds_the_removal_back(
    engine: FakeEngine, running: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.print(running.handle, 0, LAST)
    monkeypatch.setattr(ends, "REMOVAL_SECONDS", -1.0)
    with pytest.raises(EngineUnavailable):
        delete(running)
    assert now(running).deleted_at is None
    assert engine.observe(running.handle) is not None


def test_a_full_disk_does_not_hold_a_deletion_back(
    engine: FakeEngine, running: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **more: object) -> bool:
        raise OSError(errno.ENOSPC, "No space left on device")

    engine.print(running.handle, 0, LAST)
    monkeypatch.setattr(logs, "append_output", full)
    after = delete(running)
    assert after.deleted_at
    told = after.events.filter(message__startswith="The last of its output is lost").get()
    assert "No space left on device" in told.message


def test_a_terminating_pod_is_read_for_some_minutes(engine: FakeEngine, running: Workload) -> None:
    Workload.objects.update(phase=Phase.DELETING, deleted_at=timezone.now(), logs_complete=False)
    engine.print(running.handle, 0, LAST)
    collect.collect_output(running.cluster)
    assert printed(running) == LAST.encode()
    assert now(running).logs_complete
    Workload.objects.update(deleted_at=timezone.now() - collect.AFTER_DELETION, logs_complete=False)
    engine.print(running.handle, 0, LAST)
    collect.collect_output(running.cluster)
    assert printed(running) == LAST.encode()
    sweep.prune()
    assert now(running).logs_complete, "nobody waits any longer"


@pytest.mark.parametrize(
    ("days", "ended", "deleted", "kept"),
    [
        (30, 29, 29, True),
        (30, 31, 20, False),
        (30, 400, 6, True),  # a mistake can be taken back for a week
        (30, 400, 8, False),
        (30, None, 29, True),  # it was running
        (30, None, 31, False),
        (3, 4, 2, True),
        (3, 4, 4, False),
        (0, 0, 0, False),
    ],
)
def test_a_deleted_workload_is_forgotten_some_days_after_its_end(
    project: Project,
    settings: Settings,
    tmp_path: object,
    days: int,
    ended: int | None,
    deleted: int,
    kept: bool,
) -> None:
    settings.LOG_STORE = tmp_path
    settings.RETENTION_DAYS = days
    workload = WorkloadFactory(
        project=project,
        phase=Phase.DELETING,
        logs_complete=True,
        completed_at=None if ended is None else ago(ended),
        deleted_at=ago(deleted),
    )
    Event.objects.create(workload=workload)
    Sample.objects.create(workload=workload, run=1, rank=0, at=ago(1), values={})
    logs.append(logs.Stream(workload.pk, 1, 0, 0), b"hello\n")
    assert (workload.removal_time > timezone.now()) == kept
    sweep.prune()
    for rows in (Workload.objects, Event.objects, Sample.objects):
        assert rows.exists() == kept
    assert bool(logs.streams(workload.pk)) == kept


def ago(days: int) -> datetime:
    return timezone.now() - days * DAY - timedelta(minutes=1)


def test_a_name_is_free_again(engine: FakeEngine, running: Workload) -> None:
    delete(running)
    WorkloadFactory(name=running.name, project=running.project)


def test_deleted_workloads_are_forgotten_with_their_project(
    engine: FakeEngine,
    running: Workload,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    engine.print(running.handle, 0, LAST)
    delete(running)
    assert logs.streams(running.pk)
    with django_capture_on_commit_callbacks(execute=True):
        projects.delete_project(running.project, by=UserFactory(administrator=True))
    assert not Workload.objects.exists()
    assert not logs.streams(running.pk)
