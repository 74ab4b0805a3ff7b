"""The state of a real cluster, while rights go, the API server goes, and both come back."""

import pytest

from clusters import services
from clusters.models import Cluster, Node, State
from engines.findings import SIGNED_IN, Finding, Level
from engines.queues import Queue
from tests.account import Account
from tests.clusters.kubeconfigs import connect, kubeconfig_of
from tests.relay import Relay
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
WELL = {State.CONNECTED, State.ISSUES}  # a control plane without nodes has issues


def state(cluster: Cluster) -> State:
    """As the monitor would find it now."""
    services.refresh(cluster)
    cluster.refresh_from_db()
    return State(cluster.state)


def finding(cluster: Cluster, name: str) -> Finding:
    return next(found for found in cluster.findings if found.name == name)


def test_the_rights_of_the_manifest_are_enough(cluster: Cluster, account: Account) -> None:
    wait_for(lambda: state(cluster) in WELL, 15, "the rights to hold")
    lacking = [f for f in cluster.findings if f.area == "Permissions" and f.level != Level.OK]
    assert lacking == []
    assert finding(cluster, SIGNED_IN).text == account.user


def test_states_follow_rights_and_the_api_server(
    cluster: Cluster, account: Account, relay: Relay
) -> None:
    wait_for(lambda: state(cluster) in WELL, 15, "the rights to hold")
    nodes = Node.objects.filter(cluster=cluster).count()

    account.without("pods/log", "get")
    wait_for(lambda: state(cluster) is State.MISSING, 15, "the rights to be gone")
    assert "pods/log: get: not allowed" in cluster.state_message
    assert finding(cluster, "pods/log").level is Level.MISSING
    assert finding(cluster, "pods").level is Level.OK

    account.without("nodes", "list")
    wait_for(lambda: "nodes: list" in _message(cluster), 15, "another right to be gone")
    assert cluster.state == State.MISSING
    assert Node.objects.filter(cluster=cluster).count() == nodes  # as last seen

    account.without()
    wait_for(lambda: state(cluster) in WELL, 15, "the rights to be back")

    relay.close()
    assert state(cluster) is State.DISCONNECTED
    assert "does not answer: nothing listens there" in cluster.state_message
    assert f"at 127.0.0.1:{relay.port}" in cluster.state_message
    assert "keeps trying" in cluster.state_message
    relay.open()
    assert state(cluster) in WELL


def test_a_missing_right_that_not_everybody_needs_is_a_warning(
    cluster: Cluster, account: Account
) -> None:
    account.without("ingresses", "create")
    wait_for(lambda: _level(cluster, "ingresses.networking.k8s.io") == Level.WARNING, 15, "it")
    assert cluster.state in WELL


@pytest.mark.kai
def test_queues_that_may_not_be_written_are_said(cluster: Cluster, account: Account) -> None:
    def issues(*wanted: Queue) -> str:
        services.refresh(cluster, lambda: wanted)
        return " ".join(f.text for f in cluster.findings if f.area == "Quotas" and f.level != "ok")

    wait_for(lambda: state(cluster) in WELL, 15, "the rights to hold")
    if not cluster.capabilities.quotas:
        pytest.skip("this cluster has no KAI")
    account.without("queues", "patch")
    queue = Queue("vision", "", gpus=1, cpu=None, memory=None, weight=1)
    wait_for(lambda: "cannot patch resource" in issues(queue), 15, "the right to be gone")
    assert cluster.state == State.ISSUES
    account.without()
    wait_for(lambda: issues(queue) == "", 15, "the rights to be back")
    assert issues() == ""  # and the queue is removed


def test_credentials_that_ended_are_said(cluster: Cluster) -> None:
    services.refresh(cluster)
    connect(cluster, kubeconfig_of(cluster).replace("token: ", "token: x"))
    Cluster.objects.filter(pk=cluster.pk).update(connection_version=1)
    cluster.refresh_from_db()
    assert state(cluster) is State.DISCONNECTED
    assert "replace the kubeconfig" in cluster.state_message


def _message(cluster: Cluster) -> str:
    state(cluster)
    return cluster.state_message


def _level(cluster: Cluster, name: str) -> Level:
    state(cluster)
    return finding(cluster, name).level
