"""Giving workloads to a cluster that queues for itself: all of them, once, whatever one does."""

from datetime import timedelta

import pytest
from celery import current_app
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks
from redis.exceptions import ConnectionError

from core.lease import lease
from engines.base import EngineRefused, EngineUnavailable, Launch
from engines.fake import FakeEngine
from projects.models import Project
from spec.phases import Phase, Reason
from tests.factories import WorkloadFactory
from tests.workloads.domain.conftest import now
from workloads import handover, outbox
from workloads.models import Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]


@pytest.fixture
def project(engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(handover, "GATHER_SECONDS", 0.0)
    engine.queues = True
    project.cluster.capabilities_json["queues"] = True
    project.cluster.save()
    return project


def names(engine: FakeEngine) -> list[str]:
    return sorted(launch.handle.name for launch in engine.launches)


def test_all_that_waits_is_given_in_one_go(engine: FakeEngine, project: Project) -> None:
    made = [WorkloadFactory(project=project) for _ in range(3)]
    WorkloadFactory(project=project, running=True)
    handover.hand_over(project.cluster)
    assert names(engine) == sorted(workload.name for workload in made)


def test_a_second_look_gives_nothing_twice(engine: FakeEngine, project: Project) -> None:
    workload = WorkloadFactory(project=project)
    handover.hand_over(project.cluster)
    engine.launches.clear()
    handover.hand_over(project.cluster)
    assert engine.launches == []
    long_ago = timezone.now() - handover.UNSEEN - timedelta(seconds=1)
    Workload.objects.filter(pk=workload.pk).update(handed_over_at=long_ago)
    assert list(handover.waiting(project.cluster)) == [workload]
    Workload.objects.filter(pk=workload.pk).update(observed_run=1)
    assert not handover.waiting(project.cluster).exists()


def test_a_refused_one_does_not_keep_the_others_back(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = WorkloadFactory(project=project), WorkloadFactory(project=project)
    submit = engine.submit

    def refuse(launch: Launch) -> None:
        if launch.handle == bad.handle:
            raise EngineRefused("No such image.", reason=Reason.IMAGE_UNKNOWN)
        submit(launch)

    monkeypatch.setattr(engine, "submit", refuse)
    handover.hand_over(project.cluster)
    assert names(engine) == [good.name]
    assert (now(bad).phase, now(bad).message) == (Phase.FAILED, "No such image.")


def test_a_row_that_cannot_be_read_does_not_keep_the_others_back(
    engine: FakeEngine, project: Project
) -> None:
    bad, good = WorkloadFactory(project=project), WorkloadFactory(project=project)
    Workload.objects.filter(pk=bad.pk).update(spec_json={"numWorkers": "many"})
    handover.hand_over(project.cluster)
    assert names(engine) == [good.name]


def test_while_the_cluster_is_away_everything_waits(engine: FakeEngine, project: Project) -> None:
    workload = WorkloadFactory(project=project)
    engine.raises = EngineUnavailable("No answer.")
    with pytest.raises(EngineUnavailable):
        handover.hand_over(project.cluster)
    assert (now(workload).phase, now(workload).handed_over_at) == (Phase.CREATING, None)
    engine.raises = None
    handover.hand_over(project.cluster)
    assert names(engine) == [workload.name]


def test_one_that_has_to_wait_keeps_nobody_back(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover, "AT_ONCE", 2)
    made = [WorkloadFactory(project=project) for _ in range(4)]
    submit = engine.submit

    def delay(launch: Launch) -> None:
        if launch.handle == made[0].handle:
            raise EngineUnavailable("Its claim is still being deleted.")
        submit(launch)

    monkeypatch.setattr(engine, "submit", delay)
    with pytest.raises(EngineUnavailable):
        handover.hand_over(project.cluster)
    assert names(engine) == sorted(workload.name for workload in made[1:])


def test_more_is_waited_for_where_some_came_and_nothing_is_late(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, gathered = [WorkloadFactory(project=project)], list[float]()

    class Ending:
        """Somebody submits in the pause after the first look."""

        def is_set(self) -> bool:
            return False

        def wait(self, seconds: float) -> None:
            gathered.append(seconds)
            if len(made) == 1:
                made.append(WorkloadFactory(project=project))

    monkeypatch.setattr(handover, "ending", Ending())
    handover.hand_over(project.cluster)
    assert names(engine) == sorted(workload.name for workload in made)
    assert len(gathered) == 2
    WorkloadFactory(project=project)
    engine.raises = EngineUnavailable("No answer.")
    with pytest.raises(EngineUnavailable):
        handover.hand_over(project.cluster)
    assert len(gathered) == 2, "who waits is told at once"


def test_only_one_gives_at_a_time(engine: FakeEngine, project: Project) -> None:
    WorkloadFactory(project=project)
    with lease(f"hand-over:{project.cluster_id}", seconds=10):
        handover.hand_over(project.cluster)
    assert engine.launches == []


def test_many_submissions_ask_once(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(current_app, "send_task", lambda task, *_, **__: sent.append(task))
    for _ in range(3):
        with django_capture_on_commit_callbacks(execute=True):
            outbox.submit(WorkloadFactory(project=project))
    assert sent == ["workloads.hand_over"]
    outbox.looked(project.cluster_id)
    with django_capture_on_commit_callbacks(execute=True):
        outbox.hand_over(project.cluster_id)
    assert sent == ["workloads.hand_over"] * 2


def test_a_broker_that_is_away_costs_the_seconds_to_the_next_sweep(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    def away() -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr(outbox, "connection", away)
    with django_capture_on_commit_callbacks(execute=True):
        workload = WorkloadFactory(project=project)
        outbox.submit(workload)
    assert "wait for the next sweep: no broker" in caplog.text
    assert list(handover.waiting(project.cluster)) == [workload]
