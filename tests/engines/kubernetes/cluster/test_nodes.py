"""What a node says of itself, and what pods hold of it, as a cluster writes it."""

from math import inf
from typing import Any

import pytest

from engines.kubernetes.cluster import nodes
from engines.kubernetes.cluster.nodes import MIB, Inventory, PodRequests, allocations, node_info
from engines.kubernetes.manifests.pod.requests import pod_requests
from engines.nodes import Allocation, Condition, Gpu, Taint
from tests.engines.kubernetes.answering import answering

NODES = "/api/v1/nodes"
LABELS = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.memory": "81559"}
ROOM = {"cpu": "63500m", "memory": "256Gi", "nvidia.com/gpu": "2", "rdma/rdma": "1"}
TAINT = {"key": "dedicated", "value": "vision", "effect": "NoSchedule"}
READY = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "posting"}


def item(*, ready: dict[str, str] = READY, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "fast-1", "labels": LABELS},
        "spec": spec,
        "status": {"allocatable": ROOM, "conditions": [ready]},
    }


def test_a_node_shows_all_that_it_says() -> None:
    seen = node_info(item(taints=[TAINT]), {"fast-1": Allocation(1.5, MIB, 1.0)})
    assert seen.gpus == tuple(Gpu(n, "NVIDIA H100 80GB HBM3", 81559 * MIB) for n in (0, 1))
    assert (seen.cpu, seen.memory) == (63.5, 256 * 1024**3)
    assert seen.resources == {"nvidia.com/gpu": 2, "rdma/rdma": 1}
    assert seen.taints == (Taint("dedicated", "vision", "NoSchedule"),)
    assert seen.labels == LABELS
    assert seen.conditions == (Condition("Ready", "True", "KubeletReady", "posting"),)
    assert seen.allocated == Allocation(1.5, MIB, 1.0)
    assert seen.ready


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (item(unschedulable=True), "Cordoned"),
        (item(ready=READY | {"status": "Unknown", "message": "Kubelet is gone."}), "Kubelet is"),
        (item(ready={"type": "DiskPressure", "status": "False"}), "does not report"),
    ],
)
def test_a_node_that_takes_no_pods_says_why(seen: dict[str, Any], words: str) -> None:
    found = node_info(seen)
    assert not found.ready
    assert words in found.message
    assert found.allocated is None, "nobody may look at the pods there"


def wants(**requests: str) -> dict[str, Any]:
    return {"resources": {"requests": {key.replace("gpu", "nvidia.com/gpu"): it
                                       for key, it in requests.items()}}}  # fmt: skip


def test_a_pod_holds_what_the_scheduler_counts() -> None:
    spec = {
        "containers": [wants(cpu="500m", memory="1Gi", gpu="2"), wants(cpu="1", memory="1M")],
        "initContainers": [wants(cpu="4", memory="1Mi")],
        "overhead": {"cpu": "250m"},
    }
    assert pod_requests({"metadata": {}, "spec": spec}) == Allocation(4.25, 1024**3 + 10**6, 2.0)
    shared = {"gpu-fraction": "0.25", "gpu-fraction-num-devices": "2"}
    pod = {"metadata": {"annotations": shared}, "spec": {"containers": [{}]}}
    assert pod_requests(pod) == Allocation(0.0, 0, 0.5)


def test_a_sidecar_counts_beside_what_comes_after_it() -> None:
    sidecar = wants(cpu="1", memory="1Gi") | {"restartPolicy": "Always"}
    spec = {
        "containers": [wants(cpu="2", memory="4Gi")],
        "initContainers": [sidecar, wants(cpu="1", memory="6Gi"), sidecar],
    }
    assert pod_requests({"metadata": {}, "spec": spec}) == Allocation(4.0, 7 * 1024**3, 0.0)


def test_nodes_are_read_often_and_requests_of_pods_are_summed_rarely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nodes, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(nodes, "TIME_SHARE", inf)
    empty: dict[str, Any] = {"items": [], "metadata": {}}
    with answering() as server:
        server.answers |= {NODES: empty, nodes.PODS: empty}
        mine = Inventory(server.api, lambda: None)
        assert [mine.nodes(), mine.nodes()] == [(), ()]
        assert sorted(server.asked) == [NODES, NODES, nodes.PODS]
        monkeypatch.setattr(nodes, "EVERY_SECONDS", 0.0)
        other = Inventory(server.api, lambda: None)
        assert [other.nodes(), other.nodes()] == [(), ()]
        assert server.asked.count(nodes.PODS) == 3


def test_requests_of_a_pod_are_read_again_where_the_pod_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []

    def reading(pod: dict[str, Any]) -> Allocation:
        read.append(pod["metadata"]["uid"])
        return pod_requests(pod)

    monkeypatch.setattr(nodes, "pod_requests", reading)
    each = PodRequests()
    with answering() as server:
        for versions, again in (({"a": 1, "b": 1}, ["a", "b"]), ({"a": 2, "b": 1}, ["a"])):
            pods = [placed(uid, version) for uid, version in versions.items()]
            server.answers[nodes.PODS] = {"metadata": {}, "items": pods[:1]}
            held = allocations(server.api, pods[1:], each)
            assert held == {"fast-1": Allocation(sum(versions.values()), 0, 0.0)}
            assert read == again
            read.clear()
        server.answers[nodes.PODS] = {"metadata": {}, "items": []}
        assert allocations(server.api, [], each) == {}
        assert allocations(server.api, [placed("b", 1)], each) == {"fast-1": Allocation(1, 0, 0.0)}
        assert read == ["b"], "it was gone"


def placed(uid: str, version: int) -> dict[str, Any]:
    """It asks for as many cores as its version says."""
    meta = {"uid": uid, "resourceVersion": str(version)}
    spec = {"nodeName": "fast-1", "containers": [wants(cpu=str(version))]}
    return {"metadata": meta, "spec": spec, "status": {}}
