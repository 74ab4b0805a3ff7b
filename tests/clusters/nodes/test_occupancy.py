"""What of a cluster is held: what its nodes say of their pods, else what workloads ask for."""

import pytest

from clusters.nodes.occupancy import occupancies
from clusters.nodes.rows import node_rows, pool_rows
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


def test_a_pool_says_what_its_only_node_says() -> None:
    project = ProjectFactory.create()
    cluster = project.cluster
    WorkloadFactory.create(project=project, phase=Phase.RUNNING, gpus=2.6, cpu_cores=3)
    cluster.nodes.update(gpu_count=4)
    [node] = node_rows(cluster, cluster.nodes.all())
    [pool] = pool_rows(cluster)
    assert pool.allocation == node.allocation
    assert pool.allocation
    assert (pool.allocation.gpus, pool.allocation.cpu) == (2.6, 3)
    assert pool.meters == node.meters


def test_a_pool_of_nodes_that_say_nothing_claims_nothing_to_be_free() -> None:
    project = ProjectFactory.create()
    cluster = project.cluster
    cluster.nodes.update(pool=cluster.pools.create(name="one", label_key="a", label_value="1"))
    cluster.nodes.create(name="another", cpu=4, memory=10**9)
    for row in pool_rows(cluster):
        assert row.allocation is None
        assert not any("free" in text for *_, text in row.meters)
