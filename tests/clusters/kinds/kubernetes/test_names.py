"""Names that a cluster would not know are problems of a plan, not of the run of a workload."""

from typing import Any
from uuid import uuid4

import pytest

from clusters.connections import complaints, waits_for, warnings
from clusters.models import Cluster, Node, NodePool
from engines.base import Handle
from engines.kubernetes.jobs import KAI
from spec.formats import documents
from spec.problems.causes import CauseKind

pytestmark = pytest.mark.django_db
TYPE = "run.ai/type"
HAS: dict[str, Any] = {
    "queues": True,
    "schedulers": ["default-scheduler", KAI],
    "storage_classes": ["standard", "fast"],
    "topologies": ["dc"],
}


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.objects.create(name="gpu", kind="kubernetes", capabilities_json=HAS)


def node(cluster: Cluster, **labels: str) -> None:
    Node.objects.create(
        cluster=cluster, name=f"n{uuid4().hex[:4]}", cpu=8, memory=10**10, labels_json=labels
    )


def told(cluster: Cluster, *, worker: dict[str, Any] | None = None, **whole: Any) -> dict[str, str]:
    document = {"distributedFramework": "PyTorch", "worker": {"image": "x:1", **(worker or {})}}
    handle = Handle(uuid4(), "mnist", "vision")
    found = complaints(cluster, handle, documents.load_spec(document | whole))
    return {problem.field: problem.message for problem in found}


def volume(name: str) -> dict[str, Any]:
    return {"storage": {"pvc": [{"path": "/d", "claimInfo": {"size": "1G", "storageClass": name}}]}}


def test_an_unknown_storage_class_is_a_problem_of_its_field(
    cluster: Cluster,
) -> None:
    assert told(cluster, worker=volume("fast")) == {}
    assert told(cluster, worker=volume("runai-none")) == {}, "None is no class to look for"
    assert told(cluster, worker=volume("nvme")) == {
        "worker.storage.pvc.0.claimInfo.storageClass": "the cluster has no storage class 'nvme'; "
        "it has fast, standard"
    }
    cluster.capabilities_json = HAS | {"storage_classes": []}
    assert told(cluster, worker=volume("nvme")) == {}, "we may not list them"


def test_a_topology_that_the_cluster_lacks_is_a_problem(cluster: Cluster) -> None:
    near = {"required": "rack"}
    assert told(cluster, topology={"name": "dc", **near}) == {}
    problems = told(cluster, topology={"name": "cd", **near})
    assert problems == {"topology.name": "the cluster has no topology 'cd'; it has dc"}
    cluster.capabilities_json = HAS | {"topologies": []}
    assert told(cluster, topology={"name": "dc", **near})["topology.name"].endswith("it has none")
    cluster.capabilities_json = {key: HAS[key] for key in HAS if key != "topologies"}
    assert told(cluster, topology={"name": "cd", **near}) == {}, "nobody says which there are"


def test_an_unknown_node_type_is_a_problem_if_nodes_have_types(cluster: Cluster) -> None:
    wanted = {"nodeType": "dgx"}
    node(cluster)
    assert told(cluster, worker=wanted) == {}, "no node has a type"
    node(cluster, **{TYPE: "a100"})
    node(cluster, **{TYPE: "h100"})
    (text,) = told(cluster, worker=wanted).values()
    assert text.startswith("no node of the cluster has the type 'dgx'; it has a100, h100")
    pool = NodePool.objects.create(cluster=cluster, name="dgx", label_key=TYPE, label_value="dgx")
    assert told(cluster, worker=wanted) == {}, f"{pool} adds nodes on demand"


def test_a_node_port_in_use_is_a_problem_of_its_tool(cluster: Cluster) -> None:
    tool = {"name": "board", "toolType": "custom", "connectionType": "NodePort"}
    board = {"connections": [tool | {"containerPort": 6006, "nodePort": 30111}]}
    assert told(cluster, worker=board) == {}
    cluster.capabilities_json = HAS | {"node_ports": [30110, 30111]}
    assert told(cluster, worker=board) == {
        "worker.connections.0.nodePort": "30111 is held by a Service outside Trainyard; enter "
        "another, or leave it empty for any free one"
    }


def test_a_missing_claim_or_config_map_is_a_warning(cluster: Cluster) -> None:
    space = "trainyard-vision"
    worker = {
        "storage": {
            "pvc": [{"path": "/a", "existingPvc": True, "claimName": "sets"}],
            "configMapVolume": [{"mountPath": "/b", "configMap": "conf"}],
        },
        "environmentVariables": [{"name": "LR", "configMap": {"name": "conf", "key": "lr"}}],
    }

    def warned() -> dict[str, str]:
        document = {"distributedFramework": "PyTorch", "worker": {"image": "x:1", **worker}}
        spec = documents.load_spec(document)
        return {
            it.field: it.message for it in warnings(cluster, Handle(uuid4(), "m", "vision"), spec)
        }

    assert warned() == {}, "nobody says what there is"
    claims = [{"namespace": space, "name": "other"}, {"namespace": "x", "name": "sets"}]
    cluster.capabilities_json = HAS | {"claims": claims, "config_maps": [f"{space}/conf"]}
    assert warned() == {
        "worker.storage.pvc.0.claimName": "the project's namespace has no claim 'sets' yet; it has "
        "other. Pods wait until there is one"
    }
    cluster.capabilities_json = HAS | {"claims": None, "config_maps": []}
    assert set(warned()) == {
        "worker.storage.configMapVolume.0.configMap",
        "worker.environmentVariables.0.configMap.name",
    }
    assert told(cluster, worker=worker) == {}, "no problem: it may be made any time"


def test_a_missing_claim_is_what_a_workload_waits_for(cluster: Cluster) -> None:
    claim = {"path": "/a", "existingPvc": True, "claimName": "sets"}
    worker = {"image": "x:1", "storage": {"pvc": [claim]}}
    spec = documents.load_spec({"distributedFramework": "PyTorch", "worker": worker})
    handle = Handle(uuid4(), "m", "vision")
    assert waits_for(cluster, handle, spec) is None, "nobody says what there is"
    cluster.capabilities_json = HAS | {"claims": []}
    cause = waits_for(cluster, handle, spec)
    assert cause
    assert (cause.kind, cause.title) == (CauseKind.STORAGE, "The claim sets is missing")
    there = [{"namespace": "trainyard-vision", "name": "sets"}]
    cluster.capabilities_json = HAS | {"claims": there}
    assert waits_for(cluster, handle, spec) is None
