"""Queueing what was submitted where Trainyard decides what starts: all of it, once."""

import pytest
from celery import current_app
from pytest_django import DjangoCaptureOnCommitCallbacks
from redis import Redis

from clusters.models import Cluster
from projects.models import Project
from spec.phases import Phase
from tests.factories import WorkloadFactory
from tests.workloads.gangs import engine, phases, project, waiting
from workloads import enqueue, tasks
from workloads.models import Event, Workload
from workloads.scheduling import admission
from workloads.worker import dispatch

__all__ = ["engine", "project"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("engine", "valkey")]


def submitted(project: Project, name: str, gpus: int) -> Workload:
    workload = waiting(project, name, gpus)
    Workload.objects.filter(pk=workload.pk).update(phase=Phase.CREATING)
    return workload


def test_all_submissions_are_queued_at_once_and_started_where_they_may(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "AT_ONCE", 2)
    gangs = [submitted(project, name, 2) for name in ("first", "second", "third")]
    elsewhere = WorkloadFactory()
    tasks.queue_up(str(project.cluster_id))
    assert phases(*gangs) == [Phase.INITIALIZING, Phase.INITIALIZING, Phase.PENDING]
    assert phases(elsewhere) == [Phase.CREATING]


def test_a_second_look_queues_nothing_twice(project: Project) -> None:
    gang = submitted(project, "gang", 1)
    for _ in range(2):
        dispatch.queue_up(project.cluster)
    assert Event.objects.filter(workload=gang, phase=Phase.PENDING).count() == 1


def test_many_submissions_ask_the_worker_once_until_it_looks(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(current_app, "send_task", lambda task, *_, **__: sent.append(task))
    for _ in range(3):
        with django_capture_on_commit_callbacks(execute=True):
            enqueue.submit(WorkloadFactory(project=project))
    assert sent == ["workloads.queue_up"]
    with django_capture_on_commit_callbacks(execute=False):
        dispatch.queue_up(project.cluster)
    with django_capture_on_commit_callbacks(execute=True):
        enqueue.submit(WorkloadFactory(project=project))
    assert sent == ["workloads.queue_up"] * 2


def test_a_submission_during_a_look_has_a_message_of_its_own(
    project: Project, valkey: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker takes the mark away before it reads, so that nothing falls between."""
    valkey.set(mark := f"asked:workloads.queue_up:{project.cluster_id}", 1)
    marked: list[bool] = []

    def admit(cluster: Cluster) -> int:
        marked.append(bool(valkey.exists(mark)))
        return 0

    monkeypatch.setattr(admission, "admit_waiting", admit)
    dispatch.queue_up(project.cluster)
    assert marked == [False]
