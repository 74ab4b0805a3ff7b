"""The sweep asks again for what is overdue, and clears away what is long gone."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from clusters.models import Cluster, State
from projects.models import Project
from spec.phases import Phase
from tests.factories import WorkloadFactory
from tests.workloads.gangs import phases
from workloads import enqueue
from workloads.models import Workload
from workloads.worker import sweep


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, UUID]]:
    found: list[tuple[str, UUID]] = []
    for module in ("workloads.enqueue", "core.broker.enqueue"):
        monkeypatch.setattr(f"{module}.send", lambda task, about, _: found.append((task, about)))
    return found


@pytest.mark.parametrize(
    ("phase", "task"),
    [
        (Phase.INITIALIZING, "workloads.launch"),
        (Phase.STOPPING, "workloads.stop"),
        (Phase.DELETING, "workloads.delete"),
    ],
)
def test_the_sweep_asks_again_for_what_is_overdue(
    phase: Phase, task: str, project: Project, asked: list[tuple[str, UUID]]
) -> None:
    overdue = timezone.now() - timedelta(seconds=10)
    late = WorkloadFactory(project=project, phase=phase, phase_updated_at=overdue)
    recent = WorkloadFactory(project=project, phase=phase)
    sweep.sweep()
    assert (task, late.pk) in asked
    assert recent.pk not in [about for _, about in asked]


@pytest.mark.usefixtures("valkey")
def test_the_sweep_leaves_a_silent_cluster_to_the_monitor(
    project: Project,
    asked: list[tuple[str, UUID]],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    overdue = timezone.now() - timedelta(seconds=10)
    for phase in (Phase.STOPPING, Phase.CREATING):
        WorkloadFactory(project=project, phase=phase, phase_updated_at=overdue)
    Cluster.objects.update(capabilities_json={"queues": True}, state=State.DISCONNECTED)
    with django_capture_on_commit_callbacks(execute=True):
        sweep.sweep()
    assert [task for task, _ in asked] == ["workloads.monitor_cluster"]
    Cluster.objects.update(state=State.CONNECTED)
    with django_capture_on_commit_callbacks(execute=True):
        sweep.sweep()
    assert {task for task, _ in asked[1:]} == {
        "workloads.monitor_cluster",
        "workloads.hand_over",
        "workloads.stop",
    }


@pytest.mark.parametrize(("queues", "verb"), [(True, "hand_over"), (False, "queue_up")])
def test_the_sweep_asks_once_for_all_that_a_cluster_should_have(
    queues: bool,
    verb: str,
    project: Project,
    asked: list[tuple[str, UUID]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many of them wait there."""
    handed: list[UUID] = []
    monkeypatch.setattr(enqueue, verb, handed.append)
    overdue = timezone.now() - timedelta(seconds=10)
    for _ in range(3):
        WorkloadFactory(project=project, phase=Phase.CREATING, phase_updated_at=overdue)
    Cluster.objects.update(capabilities_json={"queues": queues}, state=State.CONNECTED)
    sweep.sweep()
    assert handed == [project.cluster_id]
    assert [task for task, _ in asked] == ["workloads.monitor_cluster"]


def test_the_sweep_deletes_what_is_due(project: Project, asked: list[tuple[str, UUID]]) -> None:
    due = timezone.now() - timedelta(seconds=1)
    workload = WorkloadFactory(
        project=project, completed=True, auto_delete_at=due, logs_complete=True
    )
    sweep.sweep()
    assert phases(workload) == [Phase.DELETING]


def test_an_auto_deletion_waits_for_the_last_output_but_not_for_ever(
    project: Project, asked: list[tuple[str, UUID]]
) -> None:
    due = timezone.now() - timedelta(seconds=1)
    workload = WorkloadFactory(project=project, completed=True, auto_delete_at=due)
    sweep.sweep()
    assert phases(workload) == [Phase.COMPLETED]
    Workload.objects.update(auto_delete_at=due - sweep.LOGS_LATE)
    sweep.sweep()
    assert phases(workload) == [Phase.DELETING]
