"""What ranks used of nodes over a time: as much as is known, and nothing that is not."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from clusters.models import Node
from engines.nodes import Gpu
from projects.models import Project
from tests.caller import Caller
from tests.factories import ProjectFactory, WorkloadFactory
from workloads.models import Rank, Sample, Workload

pytestmark = pytest.mark.django_db


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def node(project: Project, now: datetime) -> Node:
    """Of 8 cores, with two ranks that use 1 and 3 of them, the second since half a minute."""
    Node.objects.filter(cluster=project.cluster).delete()
    node = Node(cluster=project.cluster, name="node-1", cpu=8, memory=1000)
    node.gpus = (Gpu(0, "T4", 400), Gpu(1, "T4", 400))
    node.save()
    workload: Workload = WorkloadFactory(project=project, running=True)
    for rank, (since, cores) in enumerate(((90, 1), (30, 3))):
        started = now - timedelta(seconds=since)
        workload.ranks.filter(rank=rank).update(node=node.name, started_at=started)
        for before in (50, 10):
            values = {"cpu": cores, "memory": 100, "gpu": 10 * cores, "gpu_memory": 200}
            at = now - timedelta(seconds=before)
            workload.samples.create(kind="usage", run=1, rank=rank, at=at, values=values)
    return node


def asked(call: Caller, path: str, now: datetime, *names: str) -> tuple[int, Any]:
    """Of the last minute, in two parts."""
    start = (now - timedelta(minutes=1)).isoformat().replace("+00:00", "Z")
    kinds = "&".join(f"metricType={name}" for name in names)
    end = now.isoformat().replace("+00:00", "Z")
    return call("GET", f"{path}?start={start}&end={end}&numberOfSamples=2&{kinds}")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("CPU_USAGE_CORES", ["1", "4"]),  # where the second was before it started, nobody knows
        ("CPU_UTILIZATION", ["12.5", "50"]),
        ("CPU_MEMORY_USAGE_BYTES", ["100", "200"]),
        ("CPU_MEMORY_UTILIZATION", ["10", "20"]),
        ("GPU_UTILIZATION", ["10", "20"]),
        ("GPU_MEMORY_USAGE_BYTES", ["200", "400"]),
        ("GPU_MEMORY_UTILIZATION", ["25", "50"]),
    ],
)
def test_a_node_tells_what_the_ranks_on_it_used(
    call: Caller, node: Node, now: datetime, name: str, values: list[str]
) -> None:
    status, answer = asked(call, f"/nodes/{node.pk}/metrics", now, name)
    assert status == 200, answer
    (series,) = answer["measurements"]
    assert (series["type"], [it["value"] for it in series["values"]]) == (name, values)


def test_ranks_that_came_one_after_another_count_for_their_time(
    call: Caller, node: Node, now: datetime
) -> None:
    """In the second part of half a minute, one for the first ten seconds and one from then on."""
    change = now - timedelta(seconds=20)
    Rank.objects.filter(rank=0).update(finished_at=change)
    Rank.objects.filter(rank=1).update(started_at=change)
    for rank, before, used in ((0, 25, 8), (1, 15, 2)):
        Sample.objects.filter(rank=rank).update(
            at=now - timedelta(seconds=before), values={"cpu": used, "gpu": 10 * used}
        )
    names = ("CPU_USAGE_CORES", "CPU_UTILIZATION", "GPU_UTILIZATION")
    _, answer = asked(call, f"/nodes/{node.pk}/metrics", now, *names)
    values = [[it["value"] for it in one["values"]] for one in answer["measurements"]]
    assert values == [["4"], ["50"], ["40"]]


def test_a_run_before_and_another_node_do_not_count(
    call: Caller, node: Node, now: datetime
) -> None:
    Workload.objects.update(run=2)
    _, answer = asked(call, f"/nodes/{node.pk}/metrics", now, "CPU_USAGE_CORES")
    assert answer["measurements"][0]["values"] == []
    Workload.objects.update(run=1)
    twin = Node.objects.create(cluster=node.cluster, name="node-2", cpu=8, memory=1000)
    _, answer = asked(call, f"/nodes/{twin.pk}/metrics", now, "CPU_USAGE_CORES")
    assert answer["measurements"][0]["values"] == []


def test_a_pool_tells_the_shares_of_all_its_nodes(call: Caller, node: Node, now: datetime) -> None:
    Node.objects.create(cluster=node.cluster, name="node-2", cpu=8, memory=1000)
    pool = f"/clusters/{node.cluster_id}/nodepools/default/metrics"
    status, answer = asked(call, pool, now, "CPU_UTILIZATION", "GPU_UTILIZATION")
    assert status == 200, answer
    assert [[it["value"] for it in one["values"]] for one in answer["measurements"]] == [
        ["6.25", "25"],
        ["10", "20"],
    ]


def test_unmeasured_types_and_hidden_nodes_are_refused(
    call: Caller, node: Node, now: datetime
) -> None:
    one = f"/nodes/{node.pk}/metrics"
    status, answer = asked(call, one, now, "GPU_SM_ACTIVITY_PER_GPU")
    assert (status, "CPU_USAGE_CORES" in answer["details"]) == (501, True)
    pool = f"/clusters/{node.cluster_id}/nodepools"
    assert asked(call, f"{pool}/default/metrics", now, "CPU_USAGE_CORES")[0] == 501
    assert asked(call, f"{pool}/none/metrics", now, "CPU_UTILIZATION")[0] == 404
    elsewhere = ProjectFactory().cluster.nodes.get()
    assert asked(call, f"/nodes/{elsewhere.pk}/metrics", now, "CPU_USAGE_CORES")[0] == 404
