"""Free and allocated capacity, as admission sees it."""

import pytest

from projects.models import Project
from projects.quotas import Demand, usage_of
from spec.phases import HOLDING_RESOURCES, Phase
from tests.factories import WorkloadFactory, workload_spec
from tests.workloads.gangs import phases, waiting
from workloads.scheduling import capacity
from workloads.scheduling.admission import admit_waiting
from workloads.scheduling.placement import Room

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("engine")]


def room(project: Project) -> Room:
    return capacity.free_room(project.cluster, capacity.occupying_workloads(project.cluster))


def test_the_room_kept_in_mind_is_the_room_there_is(project: Project) -> None:
    waiting(project, "first", gpus=1)
    before = room(project)
    admit_waiting(project.cluster)
    after = room(project)
    assert sum(before.gpus.values()) - sum(after.gpus.values()) == 1
    assert after.cpu < before.cpu


@pytest.mark.parametrize("phase", Phase)
def test_a_quota_is_held_exactly_in_these_phases(phase: Phase, project: Project) -> None:
    WorkloadFactory(project=project, phase=phase)
    held = usage_of([project])[project.pk].demand
    assert held == (Demand(0.3, 0.3, 300_000_000) if phase in HOLDING_RESOURCES else Demand())


@pytest.mark.parametrize(("pods", "free"), [(3, 3.7), (0, 4.0)])
def test_devices_of_a_deleted_gang_are_free_when_it_is_gone(
    pods: int, free: float, project: Project
) -> None:
    leaving = WorkloadFactory(project=project, phase=Phase.DELETING, running_pods=pods)
    assert len(workload_spec().pods) == leaving.ranks.update(gpu_devices=[0])
    assert sum(room(project).gpus.values()) == pytest.approx(free)


def test_a_cluster_with_a_queue_of_its_own_admits_for_itself(project: Project) -> None:
    workload = waiting(project, "first", gpus=1)
    project.cluster.capabilities_json["queues"] = True
    assert admit_waiting(project.cluster) == 0
    assert phases(workload) == [Phase.PENDING]
