"""Keeping a cluster's queues while it is looked at, and what is shown where it refuses."""

import pytest

from clusters import connections, services
from clusters.models import Cluster, State
from engines.base import EngineError, EngineRefused, EngineUnavailable
from engines.fake import FakeEngine
from engines.findings import Finding, Level
from engines.queues import Queue
from tests.clusters.answering import answers
from tests.factories import ClusterFactory

pytestmark = pytest.mark.django_db
WANTED = [Queue("vision", "research", gpus=1, cpu=None, memory=None, weight=1)]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    found = FakeEngine(queues=True, quotas=True)
    answers(monkeypatch, "kubernetes", lambda cluster: found)
    connections.forget_engines()
    return found


@pytest.fixture
def cluster() -> Cluster:
    return ClusterFactory(kind="kubernetes", nodes=0)


def test_a_look_makes_them_what_is_wanted(cluster: Cluster, fake: FakeEngine) -> None:
    assert services.refresh(cluster, lambda: WANTED)
    assert fake.kept == WANTED
    assert cluster.state == State.CONNECTED
    assert cluster.capabilities.quotas
    assert [(found.area, found.level) for found in cluster.findings] == [("Quotas", Level.OK)]


@pytest.mark.parametrize("error", [EngineRefused("Forbidden."), EngineUnavailable("500: webhook.")])
def test_a_refusal_is_an_issue_until_it_is_over(
    cluster: Cluster, fake: FakeEngine, error: EngineError
) -> None:
    fake.refuses_queues = error
    assert services.refresh(cluster, lambda: WANTED)
    assert cluster.state == State.ISSUES
    assert str(error) in cluster.state_message
    assert services.refresh(cluster)  # somebody tests the connection
    assert cluster.state == State.ISSUES
    fake.refuses_queues = None
    assert services.refresh(cluster, lambda: WANTED)
    assert (cluster.state, cluster.state_message) == (State.CONNECTED, "")


def test_no_queues_are_kept_where_no_scheduler_holds_to_quotas(
    cluster: Cluster, fake: FakeEngine
) -> None:
    fake.quotas = False
    fake.findings = [Finding("Nodes", "Nodes", Level.OK)]
    assert services.refresh(cluster, lambda: WANTED)
    assert fake.kept == []
    assert cluster.findings == tuple(fake.findings)
