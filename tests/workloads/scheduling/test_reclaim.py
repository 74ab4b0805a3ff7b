"""What runs over quota is taken back for the owner of a quota, and waits again."""

import pytest

from engines.fake import FakeEngine
from projects.models import Project
from spec.phases import Phase, RankPhase, Reason
from tests.factories import ProjectFactory
from tests.workloads.gangs import now, phases, waiting
from workloads import reconcile
from workloads.models import Workload
from workloads.scheduling import admission

pytestmark = pytest.mark.django_db
TAKEN = "Taken back by a workload of another project, within its quota."


@pytest.fixture
def project(project: Project) -> Project:
    project.name = "team-a"
    project.save()
    return project


@pytest.fixture
def guest(project: Project) -> Project:
    return ProjectFactory(cluster=project.cluster, department=project.department, gpu_quota=0)


@pytest.fixture
def taken(engine: FakeEngine, guest: Project, project: Project) -> Workload:
    """Over quota on all 4 GPUs, until the owner's ``claim`` asked for 2."""
    workload = waiting(guest, "guest", gpus=2, workers=2)
    admission.admit_waiting(project.cluster)
    reconcile.launch(now(workload))
    waiting(project, "claim", gpus=2)
    admission.admit_waiting(project.cluster)
    return now(workload)


def claim() -> Workload:
    return Workload.objects.get(name="claim")


def test_the_owner_gets_the_gpus_when_over_quota_work_has_ended(taken: Workload) -> None:
    assert (taken.phase, taken.reason, taken.message) == (Phase.STOPPING, Reason.PREEMPTED, TAKEN)
    assert phases(claim()) == [Phase.PENDING], "the room is not given back yet"
    queued = taken.queued_at
    reconcile.stop(taken)
    again = now(taken)
    assert (again.phase, again.reason, again.message) == (Phase.PENDING, Reason.PREEMPTED, TAKEN)
    assert (again.run, again.queued_at) == (2, queued), "it keeps its age"
    assert {rank.phase for rank in again.ranks.all()} == {RankPhase.PENDING}
    admission.admit_waiting(taken.cluster)
    assert phases(claim(), again) == [Phase.INITIALIZING, Phase.PENDING]
    assert now(taken).message == TAKEN, "it says why it waits until it starts"


def test_a_preempted_workload_starts_again_when_there_is_room(taken: Workload) -> None:
    reconcile.stop(taken)
    Workload.objects.filter(name="claim").update(phase=Phase.COMPLETED)
    admission.admit_waiting(taken.cluster)
    again = now(taken)
    assert (again.phase, again.reason) == (Phase.INITIALIZING, Reason.NONE)
    told = [event.message for event in again.events.all() if event.message == TAKEN]
    assert len(told) == 3, "asked to end, ended, waits"


def test_a_preempted_workload_that_its_cluster_never_had_waits_again(
    engine: FakeEngine, guest: Project, project: Project
) -> None:
    workload = waiting(guest, "guest", gpus=4)
    admission.admit_waiting(project.cluster)
    waiting(project, "claim", gpus=1)
    admission.admit_waiting(project.cluster)
    reconcile.stop(now(workload))
    assert phases(workload) == [Phase.PENDING]


def test_a_preempted_workload_that_does_not_want_to_start_again_has_failed(taken: Workload) -> None:
    taken.spec_json["terminateAfterPreemption"] = True
    taken.save()
    reconcile.stop(now(taken))
    ended = now(taken)
    assert (ended.phase, ended.reason) == (Phase.FAILED, Reason.PREEMPTED)
    assert "not started again" in ended.message


def test_a_workload_that_succeeds_while_it_is_preempted_has_completed(taken: Workload) -> None:
    assert Workload.objects.get(pk=taken.pk).move(Phase.COMPLETED)
    assert phases(taken) == [Phase.COMPLETED]
