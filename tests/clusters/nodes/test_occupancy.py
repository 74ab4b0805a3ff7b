"""What of a cluster is held: what its nodes say of their pods, else what workloads ask for."""

import pytest

from clusters.nodes.occupancy import occupancies
from spec.phases import Phase
from tests.factories import ProjectFactory, WorkloadFactory

pytestmark = pytest.mark.django_db


def test_a_workload_whose_pods_wait_holds_what_its_nodes_say() -> None:
    project = ProjectFactory.create()
    cluster = project.cluster
    WorkloadFactory.create(project=project, phase=Phase.DEGRADED, gpus=64, cpu_cores=8)
    room = occupancies([cluster])[cluster.pk]
    assert (room.used_gpus, room.used_cpu) == (64, 8), "the nodes of this kind tell nothing"
    cluster.nodes.update(allocated_gpus=2, allocated_cpu=1.5, allocated_memory=10)
    room = occupancies([cluster])[cluster.pk]
    assert (room.used_gpus, room.used_cpu, room.used_memory) == (2, 1.5, 10)


def test_pods_on_a_node_that_is_not_ready_do_not_count() -> None:
    """An administrator drains it, for instance: what it has does not count either."""
    project = ProjectFactory.create()
    cluster = project.cluster
    WorkloadFactory.create(project=project, phase=Phase.RUNNING, gpus=8, cpu_cores=8)
    cluster.nodes.update(allocated_gpus=8, allocated_cpu=8, allocated_memory=10, ready=False)
    room = occupancies([cluster])[cluster.pk]
    assert (room.used_gpus, room.used_cpu, room.used_memory) == (0, 0, 0)
