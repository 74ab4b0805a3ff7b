"""What people may ask in which phase, and what each verb does."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from projects.models import Project
from spec.phases import MOVES, Phase, Reason
from tests.factories import WorkloadFactory
from tests.workloads.gangs import phases
from workloads import services
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
def test_each_verb_of_a_workload_in_each_phase(verb: str, phase: Phase, project: Project) -> None:
    workload = WorkloadFactory(project=project, phase=phase, reason=Reason.DEADLINE_EXCEEDED)
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
    services.resume(workload, by=workload.created_by)
    workload.refresh_from_db()
    assert (workload.run, workload.attempt, workload.logs_complete) == (2, 0, False)
    for rank in workload.ranks.all():
        assert (rank.exit_code, rank.gpu_devices, rank.restarts) == (None, [], 0)


@pytest.mark.parametrize("phase", [P.FAILED, P.COMPLETED])
def test_a_workload_that_ended_runs_again_under_its_name(phase: Phase, project: Project) -> None:
    ended = timezone.now()
    workload = WorkloadFactory(
        **{"project": project, "phase": phase, "reason": Reason.RANK_FAILED},
        **{"completed_at": ended, "auto_delete_at": ended, "failure_class": "cuda-out-of-memory"},
    )
    services.resume(workload, by=workload.created_by)
    workload.refresh_from_db()
    assert (workload.phase, workload.run) == (P.RESUMING, 2)
    assert (workload.completed_at, workload.auto_delete_at) == (None, None)
    assert workload.failure_class == ""


def test_run_again_that_is_pressed_twice_starts_one_run(project: Project) -> None:
    first = WorkloadFactory(project=project, failed=True)
    second = Workload.objects.get(pk=first.pk)
    services.resume(first, by=first.created_by)
    with pytest.raises(NotPossible):
        services.resume(second, by=first.created_by)
    first.refresh_from_db()
    assert first.run == 2


def test_copies_get_free_names(project: Project) -> None:
    workload = WorkloadFactory(project=project, name="train")
    assert services.free_copy_name(workload) == "train-copy"
    WorkloadFactory(project=project, name="train-copy")
    assert services.free_copy_name(workload) == "train-copy-2"
