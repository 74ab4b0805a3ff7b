"""What people may ask in which phase, and the sweep that asks again."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from clusters.models import Cluster, State
from projects.models import Project
from spec.phases import MOVES, Phase
from tests.factories import UserFactory, WorkloadFactory
from tests.workloads.domain.conftest import phases
from workloads import outbox, services, sweep
from workloads.models import Event, Rank, Workload
from workloads.services import NotPossible

P = Phase
VERBS: dict[str, tuple[Callable[..., None], Phase]] = {
    "stop": (services.stop, P.STOPPING),
    "run": (services.resume, P.RESUMING),
    "delete": (services.delete, P.DELETING),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("phase", list(Phase))
def test_each_verb_in_each_phase(verb: str, phase: Phase, project: Project) -> None:
    workload = WorkloadFactory(project=project, phase=phase)
    act, leads_to = VERBS[verb]
    if leads_to in MOVES[phase]:
        act(workload, by=workload.created_by)
        assert phases(workload) == [leads_to]
        event = Event.objects.get()
        assert (event.verb, event.actor) == (verb, workload.created_by)
    elif (verb, phase) == ("delete", P.DELETING):
        act(workload, by=workload.created_by)
        assert not Event.objects.exists(), "asking twice is fine"
    else:
        with pytest.raises(NotPossible):
            act(workload, by=workload.created_by)
        assert phases(workload) == [phase]
        assert not Event.objects.exists()


def test_a_resumed_workload_starts_its_next_run_afresh(project: Project) -> None:
    workload = WorkloadFactory(project=project, stopped=True, attempt=3)
    Rank.objects.update(exit_code=-15, gpu_devices=[1], restarts=2)
    services.resume(workload, by=UserFactory())
    workload.refresh_from_db()
    assert (workload.run, workload.attempt, workload.logs_complete) == (2, 0, False)
    for rank in workload.ranks.all():
        assert (rank.exit_code, rank.gpu_devices, rank.restarts) == (None, [], 0)


def test_copies_get_free_names(project: Project) -> None:
    workload = WorkloadFactory(project=project, name="train")
    assert services.free_name(workload) == "train-copy"
    WorkloadFactory(project=project, name="train-copy")
    assert services.free_name(workload) == "train-copy-2"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, UUID]]:
    found: list[tuple[str, UUID]] = []
    monkeypatch.setattr(outbox, "send", lambda task, about, queue: found.append((task, about)))
    return found


@pytest.mark.parametrize(
    ("phase", "task"),
    [
        (P.CREATING, "workloads.submit"),
        (P.RESUMING, "workloads.submit"),
        (P.INITIALIZING, "workloads.launch"),
        (P.STOPPING, "workloads.stop"),
        (P.DELETING, "workloads.delete"),
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
    for phase in (P.STOPPING, P.CREATING):
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


def test_the_sweep_deletes_what_is_due(project: Project, asked: list[tuple[str, UUID]]) -> None:
    due = timezone.now() - timedelta(seconds=1)
    workload = WorkloadFactory(project=project, completed=True, auto_delete_at=due)
    sweep.sweep()
    assert phases(workload) == [P.DELETING]


def test_the_sweep_forgets_what_was_deleted_long_ago(project: Project) -> None:
    now = timezone.now()
    WorkloadFactory(project=project, deleted_at=now - timedelta(days=15))
    kept = WorkloadFactory(project=project, deleted_at=now - timedelta(days=13))
    sweep.prune()
    assert list(Workload.objects.all()) == [kept]
