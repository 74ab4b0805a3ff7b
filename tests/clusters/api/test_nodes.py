"""REST: nodes and node pools, for those who may see the cluster."""

import pytest

from clusters.models import Cluster
from clusters.nodes import store
from engines.nodes import Allocation, Gpu, NodeInfo
from tests.caller import Caller
from tests.factories import ClusterFactory, ProjectFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster() -> Cluster:
    made = ClusterFactory(kind="kubernetes", nodes=0)
    gpus = (Gpu(0, "H100", 80 * 10**9),)
    held = Allocation(cpu=1.0, memory=10, gpus=1.0)
    fast = NodeInfo("fast", 8.0, 10**9, gpus, labels={"gpu": "h100"}, allocated=held)
    store.store(made, [fast, NodeInfo("plain", 8.0, 10**9)])
    return made


@pytest.fixture
def admin() -> Caller:
    return Caller(UserFactory(administrator=True))


def test_nodes_are_listed_a_page_at_a_time(admin: Caller, cluster: Cluster) -> None:
    status, answer = admin("GET", f"/nodes?clusterId={cluster.pk}&limit=1")
    assert (status, answer["next"]) == (200, 1)
    node = answer["nodes"][0]
    assert (node["name"], node["status"], node["nodePool"]) == ("fast", "Ready", "default")
    assert node["gpuInfo"] == {"gpuType": "H100", "gpuCount": 1}
    assert node["allocated"] == {"gpu": 1.0, "cpu": 1.0, "memory": 10}
    rest = admin("GET", f"/clusters/{cluster.pk}/nodes?offset=1")[1]["nodes"]
    assert [(node["name"], node["allocated"]["cpu"]) for node in rest] == [("plain", None)]
    assert [node["name"] for node in admin("GET", "/nodes?name=fas")[1]["nodes"]] == ["fast"]


def test_pools_are_made_changed_and_deleted(admin: Caller, cluster: Cluster) -> None:
    new = {"name": "fast", "clusterId": str(cluster.pk), "labelKey": "gpu", "labelValue": "h100"}
    status, made = admin("POST", "/node-pools", new)
    assert (status, made["phase"], made["nodes"]) == (201, "Ready", 1)
    assert admin("GET", "/nodes?nodePool=fast")[1]["nodes"][0]["name"] == "fast"
    listed = admin("GET", f"/node-pools?clusterId={cluster.pk}")[1]["nodepools"]
    assert [pool["name"] for pool in listed] == ["default", "fast"]
    status, wrong = admin("POST", "/node-pools", new)
    assert status == 409
    assert wrong["complianceIssues"]
    status, changed = admin("PUT", f"/node-pools/{made['id']}", {"labelKey": "zone"})
    assert (status, changed["phase"]) == (200, "Empty")
    assert admin("DELETE", f"/node-pools/{made['id']}")[0] == 204
    assert admin("DELETE", f"/node-pools/{made['id']}")[0] == 404


def test_members_read_nodes_of_their_clusters_by_rest_and_change_nothing(
    call: Caller, stranger: Caller, cluster: Cluster
) -> None:
    ProjectFactory(cluster=cluster, members=[call.user])
    assert len(call("GET", "/nodes")[1]["nodes"]) == 2
    new = {"name": "fast", "clusterId": str(cluster.pk), "labelKey": "gpu"}
    assert call("POST", "/node-pools", new)[0] == 403
    assert stranger("GET", "/nodes")[1]["nodes"] == []
    assert stranger("GET", "/node-pools")[1]["nodepools"] == []
    assert stranger("GET", f"/clusters/{cluster.pk}/nodes")[0] == 404
    assert stranger("POST", "/node-pools", new)[0] == 404
