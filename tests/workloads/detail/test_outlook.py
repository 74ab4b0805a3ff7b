"""The page of a gang that waits: the largest that fits now, and copies that would start."""

import re

import pytest
from django.test import Client

from clusters.models import Cluster, Node
from projects.models import Project
from spec.formats import documents
from tests.factories import WorkloadFactory
from workloads.models import Draft, Rank, Workload

CHANGE = re.compile(r'name="change" value="([^"]*)"')


@pytest.fixture
def cluster(project: Project) -> Cluster:
    """It queues, and one of its two nodes has eight GPUs free."""
    cluster: Cluster = project.cluster
    cluster.capabilities_json["queues"] = True
    cluster.save()
    cluster.nodes.all().delete()
    for number, held in enumerate((0, 8)):
        Node.objects.create(
            cluster=cluster,
            name=f"n{number}",
            cpu=64,
            memory=10**12,
            gpu_count=8,
            allocated_cpu=1,
            allocated_memory=10**9,
            allocated_gpus=held,
        )
    return cluster


@pytest.fixture
def waits(project: Project, cluster: Cluster) -> Workload:
    """Six pods of two GPUs, where there is room for four."""
    compute = {"gpuDevicesRequest": 2}
    spec = documents.load_spec(
        {
            "distributedFramework": "PyTorch",
            "architecture": "workers_only",
            "numWorkers": 6,
            "worker": {"image": "x:1", "compute": compute},
        }
    )
    draft = {
        "name": "digits",
        "cluster": str(cluster.pk),
        "project": project.pk,
        "architecture": "workers_only",
        "worker": {"assets": {}, "values": {"image": "x:1", "compute": compute}},
        "values": {"numWorkers": 6},
    }
    workload: Workload = WorkloadFactory(
        name="digits",
        project=project,
        pending=True,
        spec_json=documents.dump_spec(spec),
        draft_json=draft,
    )
    return workload


def changes(client: Client, workload: Workload) -> list[str]:
    page = client.get(workload.get_absolute_url()).content.decode()
    assert ("Largest gang that fits now: 4 workers." in page) is bool(CHANGE.search(page))
    return CHANGE.findall(page)


def test_a_copy_has_the_shape_that_starts(client: Client, waits: Workload) -> None:
    assert changes(client, waits) == ["workers=4"]
    answer = client.post(f"/workloads/{waits.pk}/copy/", {"change": "workers=4"})
    assert answer.status_code == 302
    draft = Draft.objects.get(copied_from=waits)
    assert answer["Location"].startswith(f"/workloads/drafts/{draft.pk}/")
    assert draft.content.values["numWorkers"] == 4


def test_a_change_that_nobody_offered_leaves_a_plain_copy(client: Client, waits: Workload) -> None:
    client.post(f"/workloads/{waits.pk}/copy/", {"change": "workers=5"})
    assert Draft.objects.get(copied_from=waits).content.values["numWorkers"] == 6


def test_a_gang_whose_pods_hold_nodes_is_not_measured(client: Client, waits: Workload) -> None:
    Rank.objects.create(workload=waits, rank=77, role="worker", index=77, node="n0")
    assert not changes(client, waits)


def test_a_gang_on_this_machine_has_copies_only_behind_it(client: Client, waits: Workload) -> None:
    waits.cluster.capabilities_json["queues"] = False
    waits.cluster.save()
    assert not changes(client, waits)
