"""Giving workloads to a cluster that queues for itself: all of them, once, whatever one does."""

from datetime import timedelta

import pytest
from celery import current_app
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks
from redis.exceptions import ConnectionError

from clusters.models import Cluster
from core.broker.enqueue import allow_next
from core.broker.lease import hold_lease
from engines.base import EngineRefused, EngineUnavailable, Launch
from engines.fake import FakeEngine
from projects.models import Project
from spec.phases import Phase, Reason
from spec.problems.causes import Cause, CauseKind
from tests.factories import WorkloadFactory
from tests.workloads.gangs import now
from workloads import enqueue, tasks
from workloads.launch import launch_with_secrets
from workloads.models import Workload
from workloads.worker import dispatch

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]


@pytest.fixture
def project(engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(dispatch, "GATHER_SECONDS", 0.0)
    engine.queues = True
    project.cluster.capabilities_json["queues"] = True
    project.cluster.save()
    return project


def names(engine: FakeEngine) -> list[str]:
    return sorted(launch.handle.name for launch in engine.launches)


def test_all_workloads_that_wait_are_handed_over_in_one_go(
    engine: FakeEngine, project: Project
) -> None:
    made = [WorkloadFactory(project=project) for _ in range(3)]
    WorkloadFactory(project=project, running=True)
    dispatch.hand_over(project.cluster)
    assert names(engine) == sorted(workload.name for workload in made)


def test_handing_over_asks_no_more_for_each_workload(
    project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    WorkloadFactory(project=project)
    Cluster.objects.filter(pk=project.cluster_id).update(kind="kubernetes")
    (workload,) = dispatch._with_launch_columns(dispatch.waiting_for_submission(project.cluster))
    workload.cluster = Cluster.objects.get(pk=project.cluster_id)
    with django_assert_max_num_queries(1) as asked:  # which credentials its images are pulled with
        launch_with_secrets(workload)
    assert all("assets_credential" in query["sql"] for query in asked)


def test_a_second_look_gives_nothing_twice(engine: FakeEngine, project: Project) -> None:
    workload = WorkloadFactory(project=project)
    dispatch.hand_over(project.cluster)
    engine.launches.clear()
    dispatch.hand_over(project.cluster)
    assert engine.launches == []
    long_ago = timezone.now() - dispatch.UNSEEN - timedelta(seconds=1)
    Workload.objects.filter(pk=workload.pk).update(handed_over_at=long_ago)
    assert list(dispatch.waiting_for_submission(project.cluster)) == [workload]
    Workload.objects.filter(pk=workload.pk).update(observed_run=1)
    assert not dispatch.waiting_for_submission(project.cluster).exists()


def test_a_refused_one_does_not_keep_the_others_back(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = WorkloadFactory(project=project)
    good = WorkloadFactory(project=project)
    submit = engine.submit

    def refuse(launch: Launch) -> None:
        if launch.handle == bad.handle:
            raise EngineRefused("No such image.", reason=Reason.IMAGE_UNKNOWN)
        submit(launch)

    monkeypatch.setattr(engine, "submit", refuse)
    dispatch.hand_over(project.cluster)
    assert names(engine) == [good.name]
    assert (now(bad).phase, now(bad).message) == (Phase.FAILED, "No such image.")


def test_a_row_that_cannot_be_read_does_not_keep_the_others_back(
    engine: FakeEngine, project: Project
) -> None:
    bad = WorkloadFactory(project=project)
    good = WorkloadFactory(project=project)
    Workload.objects.filter(pk=bad.pk).update(spec_json={"numWorkers": "many"})
    dispatch.hand_over(project.cluster)
    assert names(engine) == [good.name]


def test_while_the_cluster_is_away_everything_waits(engine: FakeEngine, project: Project) -> None:
    workload = WorkloadFactory(project=project)
    engine.raises = EngineUnavailable("No answer.")
    with pytest.raises(EngineUnavailable):
        dispatch.hand_over(project.cluster)
    assert (now(workload).phase, now(workload).handed_over_at) == (Phase.CREATING, None)
    engine.raises = None
    dispatch.hand_over(project.cluster)
    assert names(engine) == [workload.name]


def test_a_workload_that_the_cluster_delays_keeps_no_other_back(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "AT_ONCE", 2)
    made = [WorkloadFactory(project=project) for _ in range(4)]
    submit = engine.submit

    def delay(launch: Launch) -> None:
        if launch.handle == made[0].handle:
            raise EngineUnavailable("Its claim is still being deleted.")
        submit(launch)

    monkeypatch.setattr(engine, "submit", delay)
    with pytest.raises(EngineUnavailable):
        dispatch.hand_over(project.cluster)
    assert names(engine) == sorted(workload.name for workload in made[1:])


def test_a_refusing_cluster_is_one_line_in_the_log(
    engine: FakeEngine, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    WorkloadFactory.create_batch(3, project=project)
    engine.raises = EngineUnavailable("No answer.")
    assert tasks.hand_over.throws == (EngineUnavailable,)
    with pytest.raises(EngineUnavailable):
        dispatch.hand_over(project.cluster)
    (line,) = caplog.records
    assert line.getMessage().endswith("does not accept 3 workloads for now: No answer.")
    assert line.exc_info is None


def test_a_workload_that_the_cluster_refuses_says_why_until_accepted(
    engine: FakeEngine, project: Project
) -> None:
    workload = WorkloadFactory(project=project)
    away = Cause(
        CauseKind.OPERATOR,
        "The admission webhook validator.pytorchjob does not answer",
        precise_reason=Reason.CLUSTER_UNAVAILABLE,
    )
    full = Cause(CauseKind.QUOTA, "The namespace's ResourceQuota team is used up")
    for error, title, reason in (
        (
            EngineUnavailable("Its claim is still being deleted."),
            dispatch.NOT_ACCEPTED,
            Reason.CLUSTER_UNAVAILABLE,
        ),
        (EngineUnavailable("500", cause=away), away.title, Reason.CLUSTER_UNAVAILABLE),
        (EngineUnavailable("403", cause=full), full.title, Reason.WAITING_FOR_QUOTA),
    ):
        engine.raises = error
        for _ in range(2):
            with pytest.raises(EngineUnavailable):
                dispatch.hand_over(project.cluster)
        row = now(workload)
        assert (row.phase, row.reason, row.message) == (
            Phase.CREATING,
            reason,
            title,
        )
        assert row.causes.get(until=None).title == title
    engine.raises = None
    dispatch.hand_over(project.cluster)
    assert (now(workload).reason, now(workload).message) == (Reason.NONE, "")
    assert [one.until is None for one in workload.causes.all()] == [False, False, False]


def test_dispatch_waits_for_more_submissions_unless_one_is_late(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [WorkloadFactory(project=project)]
    gathered = list[float]()

    class Ending:
        """Somebody submits in the pause after the first look."""

        def is_set(self) -> bool:
            return False

        def wait(self, seconds: float) -> None:
            gathered.append(seconds)
            if len(made) == 1:
                made.append(WorkloadFactory(project=project))

    monkeypatch.setattr(dispatch, "shutting_down", Ending())
    dispatch.hand_over(project.cluster)
    assert names(engine) == sorted(workload.name for workload in made)
    assert len(gathered) == 2
    WorkloadFactory(project=project)
    engine.raises = EngineUnavailable("No answer.")
    with pytest.raises(EngineUnavailable):
        dispatch.hand_over(project.cluster)
    assert len(gathered) == 2, "who waits is told at once"


def test_only_one_process_hands_workloads_over_at_a_time(
    engine: FakeEngine, project: Project
) -> None:
    WorkloadFactory(project=project)
    with hold_lease(f"hand-over:{project.cluster_id}", seconds=10):
        dispatch.hand_over(project.cluster)
    assert engine.launches == []


def test_many_submissions_ask_the_worker_once_to_hand_over(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(current_app, "send_task", lambda task, *_, **__: sent.append(task))
    for _ in range(3):
        with django_capture_on_commit_callbacks(execute=True):
            enqueue.submit(WorkloadFactory(project=project))
    assert sent == ["workloads.hand_over"]
    allow_next(enqueue.HAND_OVER, project.cluster_id)
    with django_capture_on_commit_callbacks(execute=True):
        enqueue.hand_over(project.cluster_id)
    assert sent == ["workloads.hand_over"] * 2


def test_a_broker_that_is_away_costs_the_seconds_to_the_next_sweep(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    def away() -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr("core.broker.enqueue.valkey_connection", away)
    with django_capture_on_commit_callbacks(execute=True):
        workload = WorkloadFactory(project=project)
        enqueue.submit(workload)
    assert "waits for the next sweep: no broker" in caplog.text
    assert list(dispatch.waiting_for_submission(project.cluster)) == [workload]
