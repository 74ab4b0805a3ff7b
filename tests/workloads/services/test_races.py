"""The verbs while someone or something else is quicker."""

import pytest
from django.db import IntegrityError

from accounts.models import User
from projects.models import Project
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.phases import Phase
from spec.problems.errors import SpecError
from tests.factories import IMAGE, WorkloadFactory, add_members
from tests.workloads.gangs import now
from workloads import plan as planning
from workloads import services, submission
from workloads.models import Workload
from workloads.services import NotPossible


def draft(workload: Workload, name: str) -> WorkloadDraft:
    worker = ReplicaDraft(values={"image": IMAGE})
    return WorkloadDraft(
        name=name,
        project=workload.project_id,
        cluster=workload.cluster_id,
        framework="PyTorch",
        architecture="workers_only",
        worker=worker,
    )


def test_a_stop_counts_although_the_phase_moved_since_the_page_was_drawn(member: User) -> None:
    seen = WorkloadFactory(initializing=True, created_by=member)
    Workload.objects.update(phase=Phase.RUNNING)
    services.stop(seen, by=member)
    assert now(seen).phase == Phase.STOPPING
    assert seen.events.get().verb == "stop"


def test_a_stop_of_what_has_ended_meanwhile_names_how_it_stands(member: User) -> None:
    seen = WorkloadFactory(running=True, created_by=member)
    Workload.objects.update(phase=Phase.COMPLETED)
    with pytest.raises(NotPossible, match="is Completed"):
        services.stop(seen, by=member)


def test_running_twice_at_once_counts_one_run(member: User) -> None:
    one = WorkloadFactory(stopped=True, created_by=member)
    other = now(one)
    services.resume(one, by=member)
    with pytest.raises(NotPossible):
        services.resume(other, by=member)
    assert now(one).run == 2
    assert one.events.filter(verb="run").count() == 1


def test_delete_wins_over_any_move_and_is_told_once(member: User) -> None:
    seen = WorkloadFactory(running=True, created_by=member)
    twin = now(seen)
    Workload.objects.update(phase=Phase.FAILED)
    services.delete(seen, by=member)
    services.delete(twin, by=member)
    assert now(seen).phase == Phase.DELETING
    assert seen.events.filter(verb="delete").count() == 1


@pytest.fixture
def workload(project: Project, member: User) -> Workload:
    add_members(project, member)
    return WorkloadFactory(project=project)


def test_a_name_taken_after_the_plan_is_a_problem_of_the_name(
    workload: Workload, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = planning.plan(draft(workload, "other"), by=member)
    made.draft.name = workload.name
    plans = [made, planning.plan(draft(workload, workload.name), by=member)]
    monkeypatch.setattr(services, "plan", lambda *args, **kwargs: plans.pop(0))
    with pytest.raises(SpecError, match="already exists"):
        services.submit(draft(workload, workload.name), by=member)


def test_an_unexplained_integrity_error_is_not_called_a_taken_name(
    workload: Workload, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **kwargs: object) -> list[Workload]:
        raise IntegrityError("a row that something refers to is gone")

    monkeypatch.setattr(submission, "create", broken)
    with pytest.raises(IntegrityError):
        services.submit(draft(workload, "other"), by=member)
