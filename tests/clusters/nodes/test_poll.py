"""How the nodes are is read beside the watch, often, and without keeping it waiting."""

import logging
from collections.abc import Callable
from threading import Event
from types import SimpleNamespace

import pytest
from django.db.models import F

from clusters.models import Cluster
from clusters.nodes import poll
from clusters.nodes.poll import NodePolls
from engines.base import EngineUnavailable
from engines.fake import FakeEngine
from engines.nodes import NodeInfo
from tests.factories import ClusterFactory

pytestmark = pytest.mark.django_db
SILENT = NodeInfo("n-1", 8.0, 10**9, ready=False, message="Kubelet stopped posting node status.")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    monkeypatch.setattr(poll, "EVERY_SECONDS", 0.0)
    return FakeEngine(machines=[SILENT])


@pytest.fixture
def cluster() -> Cluster:
    return ClusterFactory(kind="kubernetes", nodes=0)


def one_round(glances: NodePolls, cluster: Cluster) -> None:
    glances.advance(cluster)
    end_round(glances, cluster)


def end_round(glances: NodePolls, cluster: Cluster) -> None:
    """Wait for the reading that goes on, and have it written down."""
    assert glances._reading
    glances._reading.join(10)
    glances.advance(cluster)
    assert not glances._reading


def test_a_round_of_polling_writes_down_the_state_of_each_node(
    fake: FakeEngine, cluster: Cluster
) -> None:
    one_round(NodePolls(fake), cluster)
    (row,) = cluster.nodes.all()
    assert (row.ready, row.message) == (SILENT.ready, SILENT.message)


def test_a_slow_cluster_is_not_waited_for_and_asked_less_often(
    fake: FakeEngine, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Event()
    answers = Event()
    clock = [100.0]
    monkeypatch.setattr(poll, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    def slowly() -> tuple[NodeInfo, ...]:
        asked.set()
        assert answers.wait(10)
        clock[0] += 3.0
        return (SILENT,)

    monkeypatch.setattr(fake, "nodes", slowly)
    glances = NodePolls(fake)
    glances.advance(cluster)
    assert asked.wait(10)
    glances.advance(cluster)
    assert not cluster.nodes.exists()
    answers.set()
    end_round(glances, cluster)
    assert cluster.nodes.exists()
    assert glances._due == clock[0] + 300


def test_a_reading_of_nodes_that_is_noticed_late_did_not_take_long(
    fake: FakeEngine, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(poll, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    glances = NodePolls(fake)
    glances.advance(cluster)
    assert glances._reading
    glances._reading.join(10)
    clock[0] += 0.4
    glances.advance(cluster)
    assert glances._due == clock[0]


def lost(fake: FakeEngine) -> None:
    fake.raises = EngineUnavailable("No answer.")


def reached_anew(fake: FakeEngine) -> None:
    Cluster.objects.update(connection_version=F("connection_version") + 1)


def deleted(fake: FakeEngine) -> None:
    Cluster.objects.all().delete()


@pytest.mark.parametrize("happens", [lost, reached_anew, deleted])
def test_polling_writes_down_nothing_of_a_cluster_that_is_not_there(
    happens: Callable[[FakeEngine], None],
    fake: FakeEngine,
    cluster: Cluster,
    caplog: pytest.LogCaptureFixture,
) -> None:
    glances = NodePolls(fake)
    happens(fake)
    with caplog.at_level(logging.WARNING):
        one_round(glances, cluster)
    assert not cluster.nodes.exists()
    assert ("No answer." in caplog.text) is (happens is lost)
