"""Elements of a job array with a limit: no more than that are in hand at once."""

import pytest
from django.utils import timezone

from engines.fake import FakeEngine
from projects.models import Project
from spec.phases import Phase
from tests.factories import WorkloadFactory
from tests.workloads.gangs import engine, now, phases, project, waiting
from workloads import services
from workloads.models import Workload
from workloads.worker import dispatch

__all__ = ["engine", "project"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("engine", "valkey")]
CREATING = Phase.CREATING
STARTED = Phase.INITIALIZING


def elements(project: Project, count: int, *, limit: int, number: int = 7) -> list[Workload]:
    """Create elements of an array that nobody has taken up."""
    found = [waiting(project, f"sweep-{number}-{index}", 1) for index in range(count)]
    rows = Workload.objects.filter(pk__in=[workload.pk for workload in found])
    rows.update(phase=CREATING, array_number=number, array_limit=limit)
    return found


def test_the_next_element_starts_when_one_ends(project: Project) -> None:
    array = elements(project, 4, limit=2)
    dispatch.queue_up(project.cluster)
    assert phases(*array) == [STARTED, STARTED, CREATING, CREATING]
    now(array[0]).move(Phase.COMPLETED)
    dispatch.queue_up(project.cluster)
    assert phases(*array) == [Phase.COMPLETED, STARTED, STARTED, CREATING]


def test_an_element_that_waits_for_room_counts(project: Project) -> None:
    waiting(project, "large", 4)
    array = elements(project, 2, limit=1)
    dispatch.queue_up(project.cluster)
    assert phases(*array) == [Phase.PENDING, CREATING]


def test_a_limit_holds_back_only_its_own_array(project: Project) -> None:
    first = elements(project, 2, limit=1)
    second = elements(project, 2, limit=1, number=8)
    other = WorkloadFactory(project=project)
    dispatch.queue_up(project.cluster)
    assert phases(*first, *second, other) == [STARTED, CREATING, STARTED, CREATING, STARTED]


def test_an_element_that_runs_again_waits_its_turn(project: Project) -> None:
    array = elements(project, 2, limit=1)
    dispatch.queue_up(project.cluster)
    now(array[0]).move(Phase.STOPPED)
    services.resume(now(array[0]), by=None)
    dispatch.queue_up(project.cluster)
    assert phases(*array) == [Phase.RESUMING, STARTED]
    assert now(array[0]).message == "At most 1 of the elements of its job array run at once."


def test_a_cluster_with_a_queue_gets_as_many_as_allowed(
    engine: FakeEngine, project: Project
) -> None:
    engine.queues = True
    project.cluster.capabilities_json["queues"] = True
    project.cluster.save()
    array = elements(project, 3, limit=2)
    for _ in range(2):
        dispatch.hand_over(project.cluster)
    assert len(engine.launches) == 2
    lost = timezone.now() - 2 * dispatch.UNSEEN
    Workload.objects.filter(handed_over_at__isnull=False).update(handed_over_at=lost)
    waiting_again = dispatch.waiting_for_submission(project.cluster)
    assert list(waiting_again) == array[:2]  # those it should have, and perhaps does not
    Workload.objects.filter(pk=array[0].pk).update(phase=Phase.FAILED)
    assert array[2] in dispatch.waiting_for_submission(project.cluster)
