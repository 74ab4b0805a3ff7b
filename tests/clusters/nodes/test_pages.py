"""Nodes and node pools: their pages, and how pools are changed."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from clusters.models import Cluster, NodePool
from clusters.nodes import store
from core.broker import enqueue
from engines.nodes import Allocation, Condition, Gpu, NodeInfo, Taint
from spec.formats import documents
from tests.factories import ClusterFactory, ProjectFactory, UserFactory, WorkloadFactory
from tests.web import DRAWER, HTMX, signed_in

pytestmark = pytest.mark.django_db
GPUS = tuple(Gpu(i, "H100", 80 * 10**9) for i in range(8))


@pytest.fixture
def cluster() -> Cluster:
    made = ClusterFactory(kind="kubernetes", nodes=0)
    busy = Allocation(cpu=16.0, memory=10**9, gpus=6.0)
    sick = Condition("Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting.")
    store.store(
        made,
        [
            NodeInfo("fast-1", 64.0, 500 * 10**9, GPUS, labels={"gpu": "h100"}, allocated=busy),
            NodeInfo("plain", 8.0, 10**10, taints=(Taint("dedicated", "web", "NoSchedule"),)),
            NodeInfo("sick", 8.0, 10**10, ready=False, message="Gone.", conditions=(sick,)),
        ],
    )
    return made


@pytest.fixture
def client() -> Client:
    return signed_in(UserFactory(administrator=True))


def address(cluster: Cluster, page: str) -> str:
    return f"/clusters/{cluster.pk}/{page}"


def pool(cluster: Cluster) -> NodePool:
    made = NodePool.objects.create(
        cluster=cluster, name="fast", label_key="gpu", label_value="h100"
    )
    store.assign_pools(cluster)
    return made


def test_strangers_see_no_pages_of_nodes(cluster: Cluster) -> None:
    node = cluster.nodes.first()
    assert node
    client = signed_in(UserFactory())
    for page in ("nodes/", f"nodes/{node.pk}/", "node-pools/"):
        assert client.get(address(cluster, page)).status_code == 404
    member = UserFactory()
    ProjectFactory(cluster=cluster, members=[member])
    page = signed_in(member).get(address(cluster, "node-pools/")).content.decode()
    assert "+New node pool" not in page


def test_nodes_show_what_they_have_and_what_is_free(client: Client, cluster: Cluster) -> None:
    page = client.get(address(cluster, "nodes/")).content.decode()
    assert "8 × H100, 80 GB" in page
    assert "2 of 8 free" in page
    assert "48 of 64 free" in page
    assert "499 GB free" in page
    assert "dedicated=web:NoSchedule" in page
    assert "Unknown" in page
    pool(cluster)
    page = client.get(address(cluster, "nodes/")).content.decode()
    assert ">fast</td>" in page
    assert page.count(">default</td>") == 2


def test_nodes_are_searched_and_narrowed(client: Client, cluster: Cluster) -> None:
    pool(cluster)
    for query, found, missing in (
        ("q=h100", "fast-1", "plain"),
        ("q=fast", "fast-1", "plain"),
        ("pool=default", "plain", "fast-1"),
        ("pool=fast", "fast-1", "plain"),
    ):
        rows = client.get(f"{address(cluster, 'nodes/')}?{query}", **HTMX).content.decode()
        assert found in rows
        assert f">{missing}<" not in rows


def test_a_node_has_a_page_and_a_drawer(client: Client, cluster: Cluster) -> None:
    node = cluster.nodes.get(name="sick")
    page = client.get(address(cluster, f"nodes/{node.pk}/")).content.decode()
    assert "Kubelet stopped posting." in page
    for name, told in (("fast-1", "gpu=h100"), ("plain", "dedicated=web:NoSchedule")):
        other = cluster.nodes.get(name=name)
        shown = client.get(address(cluster, f"nodes/{other.pk}/")).content.decode()
        assert f"{told}</code>" in shown
    part = client.get(address(cluster, f"nodes/{node.pk}/"), **DRAWER).content.decode()
    assert "drawer-head" in part


def test_thousands_of_nodes_are_pages(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    cluster = ClusterFactory(kind="kubernetes", nodes=0)
    held = Allocation(1.0, 1, 1.0)
    many = [NodeInfo(f"n-{i:04}", 64.0, 10**9, GPUS, allocated=held) for i in range(2000)]
    store.store(cluster, many)
    for page in ("", "nodes/", "nodes/?page=40", "node-pools/"):
        with django_assert_max_num_queries(11):
            shown = client.get(address(cluster, page)).content.decode()
        assert "2000" in shown
    assert "14000 of 16000 free" in shown


def test_the_page_of_nodes_of_this_machine_shows_what_its_workloads_hold(client: Client) -> None:
    local = ClusterFactory()
    WorkloadFactory(running=True, project__cluster=local)
    assert "3.7 of 4 free" in client.get(address(local, "nodes/")).content.decode()


def test_a_pool_is_made_changed_and_deleted(client: Client, cluster: Cluster) -> None:
    new = {"name": "fast", "label_key": "gpu", "label_value": "h100"}
    client.post(address(cluster, "node-pools/new/"), new)
    made = NodePool.objects.get()
    assert [node.name for node in made.nodes.all()] == ["fast-1"]
    client.post(address(cluster, f"node-pools/{made.pk}/"), new | {"label_value": "a100"})
    assert not made.nodes.exists()
    assert "Empty" in client.get(address(cluster, "node-pools/")).content.decode()
    client.post(address(cluster, f"node-pools/{made.pk}/delete/"))
    assert not NodePool.objects.exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "default"}, "default is the pool of all nodes"),
        ({"name": "Fast"}, "Start with a letter"),
        ({"label_key": "a b"}, "Write a label key"),
        ({"label_value": "a/b"}, "Use letters, digits"),
        ({"name": "taken"}, "already exists"),
    ],
)
def test_a_pool_that_cannot_be_is_refused(
    client: Client, cluster: Cluster, change: dict[str, str], said: str
) -> None:
    NodePool.objects.create(cluster=cluster, name="taken", label_key="zone", label_value="b")
    new = {"name": "fast", "label_key": "gpu", "label_value": "h100"} | change
    answer = client.post(address(cluster, "node-pools/new/"), new)
    assert answer.status_code == 422
    assert said in answer.content.decode()


def test_a_pool_without_known_nodes_has_the_cluster_looked_at(
    client: Client, cluster: Cluster, sent: list[tuple[Any, ...]]
) -> None:
    new = {"name": "fast", "label_key": "gpu", "label_value": "h100"}
    client.post(address(cluster, "node-pools/new/"), new)
    assert not sent
    page = address(cluster, "node-pools/")
    pools = address(cluster, "node-pools/new/")
    assert "every 30s" in client.get(page).content.decode()
    client.post(pools, {"name": "late", "label_key": "gpu", "label_value": "a100"})
    assert sent == [("clusters.look", cluster.pk, enqueue.SUBMIT)]
    assert "every 2s" in client.get(page).content.decode()
    models = ("h100", "a100")
    store.store(cluster, [NodeInfo(model, 8.0, 10**10, labels={"gpu": model}) for model in models])
    assert "every 2s" not in client.get(page, **HTMX).content.decode()


def test_a_pool_that_a_workload_asks_for_stays(client: Client, cluster: Cluster) -> None:
    made = pool(cluster)
    workload = WorkloadFactory(running=True, project__cluster=cluster)
    asked = documents.dump_spec(workload.spec) | {"nodePools": ["fast", "default"]}
    type(workload).objects.filter(pk=workload.pk).update(spec_json=asked)
    question = client.get(address(cluster, f"node-pools/{made.pk}/delete/"))
    assert f"Workloads use fast: {workload.name}." in question.content.decode()
    answer = client.post(address(cluster, f"node-pools/{made.pk}/delete/"))
    assert f"Workloads use fast: {workload.name}." in answer.content.decode()
    type(workload).objects.filter(pk=workload.pk).update(phase="Completed")
    client.post(address(cluster, f"node-pools/{made.pk}/delete/"))
    assert not NodePool.objects.exists()


def test_the_memory_of_gpus_of_which_slurm_tells_none_is_left_out(client: Client) -> None:
    cluster = ClusterFactory(kind="slurm", nodes=0)
    store.store(cluster, [NodeInfo("n1", 4.0, 10**10, (Gpu(0, "a100", 0), Gpu(1, "a100", 0)))])
    assert ">2 × a100</td>" in client.get(address(cluster, "nodes/")).content.decode()
