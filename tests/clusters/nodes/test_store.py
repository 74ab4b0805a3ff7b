"""Nodes as rows: what was seen is kept, in few statements, and sorted into node pools."""

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from clusters import services
from clusters.health import HELP
from clusters.models import Cluster, NodePool, State
from clusters.nodes import store
from engines.base import EngineRefused, EngineUnavailable
from engines.fake import FakeEngine
from engines.findings import Finding, Level
from engines.nodes import Allocation, Condition, NodeInfo, Taint
from tests.clusters.answering import answers
from tests.factories import ClusterFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    found = FakeEngine(queues=True)
    answers(monkeypatch, "kubernetes", lambda cluster: found)
    return found


@pytest.fixture
def cluster() -> Cluster:
    return ClusterFactory(kind="kubernetes", nodes=0)


def many(count: int, *, held: float = 0.0) -> list[NodeInfo]:
    labels = {"gpu": "a100"}
    return [
        NodeInfo(f"n-{i:04}", 8.0, 10**9, labels=labels, allocated=Allocation(held, 0, 0))
        for i in range(count)
    ]


def test_thousands_of_nodes_take_few_statements(
    cluster: Cluster, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    NodePool.objects.create(cluster=cluster, name="fast", label_key="gpu", label_value="a100")
    with django_assert_max_num_queries(40):
        store.store(cluster, many(2000))
    with django_assert_max_num_queries(3):
        store.store(cluster, many(2000))
    with django_assert_max_num_queries(30):
        store.store(cluster, many(1000, held=1.0))
    assert cluster.nodes.count() == cluster.nodes.filter(allocated_cpu=1.0).count() == 1000


def test_all_that_was_seen_of_a_node_is_kept(cluster: Cluster) -> None:
    taint = Taint("gpu", "yes", "NoSchedule")
    condition = Condition("Ready", "True")
    store.store(cluster, [NodeInfo("n", 8.0, 10**9, taints=(taint,), conditions=(condition,))])
    row = cluster.nodes.get()
    assert row.taints_json == [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
    assert row.conditions_json[0]["kind"] == "Ready"
    assert row.allocated_gpus is None


def test_a_cluster_knows_when_what_its_nodes_hold_was_counted(cluster: Cluster) -> None:
    now = timezone.now()
    store.store(cluster, [NodeInfo("n", 8.0, 10**9, counted_at=now), NodeInfo("m", 8.0, 10**9)])
    assert Cluster.objects.get(pk=cluster.pk).counted_at == now
    store.store(cluster, many(2))
    assert Cluster.objects.get(pk=cluster.pk).counted_at is None


def test_nodes_are_in_the_pool_of_their_label(cluster: Cluster) -> None:
    store.store(cluster, [*many(2), NodeInfo("plain", 8.0, 10**9)])
    pool = NodePool.objects.create(
        cluster=cluster, name="fast", label_key="gpu", label_value="a100"
    )
    store.assign_pools(cluster)
    assert pool.nodes.count() == 2
    assert cluster.nodes.get(name="plain").pool is None
    store.store(cluster, [*many(3), NodeInfo("plain", 8.0, 10**9)])
    assert pool.nodes.count() == 3


@pytest.mark.parametrize(
    ("level", "state"),
    [
        (Level.OK, State.CONNECTED),
        (Level.WARNING, State.CONNECTED),
        (Level.ISSUE, State.ISSUES),
        (Level.MISSING, State.MISSING),
    ],
)
def test_the_worst_finding_decides_the_state(
    cluster: Cluster, fake: FakeEngine, level: Level, state: State
) -> None:
    fake.findings = [
        Finding("Nodes", "Nodes", Level.OK, "1 of 1 ready"),
        Finding("Permissions", "secrets", level, "create: not allowed."),
    ]
    assert services.refresh(cluster)
    cluster.refresh_from_db()
    assert cluster.state == state
    told = "secrets: create: not allowed." if level in {Level.ISSUE, Level.MISSING} else ""
    assert cluster.state_message.removesuffix(f" {HELP}") == told
    assert cluster.findings == tuple(fake.findings)


def test_a_long_list_of_what_lacks_is_cut(cluster: Cluster, fake: FakeEngine) -> None:
    fake.findings = [Finding("P", f"right-{i}", Level.MISSING, "No.") for i in range(5)]
    services.refresh(cluster)
    assert cluster.state_message.startswith("right-0: No. right-1: No. right-2: No. And 2 more.")


def test_a_cluster_that_is_away_keeps_what_was_seen(cluster: Cluster, fake: FakeEngine) -> None:
    services.refresh(cluster)
    fake.raises = EngineUnavailable("No answer.")
    assert not services.refresh(cluster)
    assert cluster.state == State.DISCONNECTED
    assert "keeps trying" in cluster.state_message
    fake.raises = EngineRefused("Forbidden.")
    assert not services.refresh(cluster)
    assert (cluster.state, cluster.state_message) == (State.MISSING, "Forbidden.")
    assert cluster.nodes.count() == 1


def test_a_refresh_of_a_cluster_keeps_what_a_person_changed_meanwhile(
    cluster: Cluster, fake: FakeEngine
) -> None:
    Cluster.objects.filter(pk=cluster.pk).update(name="renamed", connection_version=3)
    services.refresh(cluster)
    cluster.refresh_from_db()
    assert (cluster.name, cluster.connection_version) == ("renamed", 3)
