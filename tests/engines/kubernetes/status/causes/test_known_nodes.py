"""What nodes have makes the scheduler's message exact: never instead of later, taints by name.
Pure."""

from dataclasses import replace
from typing import Any

import pytest

from engines.kubernetes.status.causes.known_nodes import admits, with_known_nodes
from engines.nodes import Gpu, NodeInfo, Taint
from spec.problems.causes import Cause, CauseKind
from tests.engines.kubernetes.objects import MASTER, UNSCHEDULED, WAITS, look, pod

FULL = "Not enough free GPUs"
NAME = "worker-0 (rank 1)"


def node(name: str, gpus: int = 0, *, taint: str = "", **labels: str) -> NodeInfo:
    have = tuple(Gpu(index, "H100", 80 * 10**9) for index in range(gpus))
    taints = (Taint(taint, "", "NoSchedule"),) if taint else ()
    return NodeInfo(name, 8.0, 10**10, have, labels=labels, taints=taints)


def waiting(gpus: int, spec: dict[str, Any]) -> dict[str, Any]:
    """A pod of which the scheduler says: 2 of 3 nodes have not enough GPUs."""
    container = {"name": "pytorch", "resources": {"requests": {"nvidia.com/gpu": str(gpus)}}}
    return pod(
        "worker",
        0,
        phase="Pending",
        container=WAITS,
        spec={"containers": [container], **spec},
        status=UNSCHEDULED,
    )


def explain(gpus: int, *nodes: NodeInfo, **spec: Any) -> str:
    one = waiting(gpus, spec)
    seen = with_known_nodes(look(MASTER, one), [MASTER, one], lambda: nodes)
    assert seen.cause
    worker = seen.ranks[1].message
    assert seen.message == f"{NAME}: {worker}"
    return worker.removesuffix(" (2 of 3 nodes)")


@pytest.mark.parametrize(
    ("gpus", "nodes", "told"),
    [
        (1, [0, 0, 0], "No node of the cluster has GPUs"),
        (1, [0, 0, 1], FULL),
        (8, [8, 8, 8], FULL),
        (16, [8, 4, 0], "No node of the cluster has 16 GPUs, the most is 8"),
        (1, [], FULL),  # the nodes are not known
        (1, [0, 0], FULL),  # the scheduler looked at others than we know
    ],
)
def test_more_gpus_than_any_node_has_never_fit(gpus: int, nodes: list[int], told: str) -> None:
    assert explain(gpus, *(node(f"n{i}", have) for i, have in enumerate(nodes))) == told


def test_only_nodes_open_to_a_pod_count_for_its_fit() -> None:
    nodes = node("a", pool="cpu"), node("b", pool="cpu"), node("c", 8, pool="gpu")
    expression = {"key": "pool", "operator": "In", "values": ["cpu"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    affinity = {"nodeAffinity": required}
    assert explain(1, *nodes, affinity=affinity) == "No node of the requested pool or type has GPUs"
    assert explain(1, *nodes, nodeSelector={"pool": "gpu"}) == FULL
    assert explain(1, *nodes, nodeSelector={"pool": "other"}) == FULL, "our labels are too old"


def test_a_pod_that_never_fits_says_what_to_do() -> None:
    one = waiting(1, {})
    before = look(MASTER, one)
    cause = with_known_nodes(before, [one], lambda: [node(name) for name in "abc"]).cause
    assert cause
    assert before.cause
    assert (cause.kind, cause.said) == (CauseKind.NODES, before.cause.said)
    assert cause.todo.startswith("It will never start")
    assert with_known_nodes(replace(before, cause=None), [one], list) == replace(before, cause=None)


@pytest.mark.parametrize(
    ("operator", "values", "fits"),
    [
        ("In", ["8"], True),
        ("NotIn", ["8"], False),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
        ("Gt", ["4"], True),
        ("Lt", ["4"], False),
    ],
)
def test_every_operator_of_node_affinity_is_known(
    operator: str, values: list[str], fits: bool
) -> None:
    one = {"key": "gpus", "operator": operator, "values": values}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [one]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    asking = {"spec": {"affinity": {"nodeAffinity": required}}}
    assert admits(asking, {"gpus": "8"}) is fits
    assert admits(asking, {}) is (operator in {"NotIn", "DoesNotExist"})


def cause_for(
    said: str, *nodes: NodeInfo, requests: dict[str, str] | None = None, **spec: Any
) -> Cause:
    """The cause of a pod that asks for a GPU, of which the scheduler says this."""
    resources = {"requests": requests or {"nvidia.com/gpu": "1"}}
    containers = [{"name": "pytorch", "resources": resources}]
    state = {"type": "PodScheduled", "status": "False", "message": said}
    one = pod(
        "worker",
        0,
        phase="Pending",
        container=WAITS,
        spec={"containers": containers, **spec},
        status={"conditions": [state]},
    )
    unreported = pod("worker", 1, phase="Pending", container=WAITS, spec={"containers": []})
    seen = with_known_nodes(look(MASTER, one), [MASTER, unreported, one], lambda: nodes)
    assert seen.cause
    assert seen.message == seen.cause.message
    return seen.cause


H100 = {"nodeSelector": {"type": "h100"}}
NAMELESS = "1 node(s) had untolerated taint(s)"


def test_taints_that_the_scheduler_does_not_name_are_those_of_the_nodes() -> None:
    nodes = [node("a", 1), node("b", taint="team"), node("c", taint="infra")]
    said = "0/3 nodes are available: 2 node(s) had untolerated taint(s), 1 Insufficient cpu."
    shares = [(share.label, share.nodes) for share in cause_for(said, *nodes).shares]
    assert shares == [
        ("too little free CPU", 1),
        ("reserved for others by the taint team", 1),
        ("reserved for others by the taint infra", 1),
    ]
    outdated = [node("a", 1), node("b", taint="team"), node("c")]
    assert cause_for(said, *outdated).shares[1].label == "reserved for others by a taint"


def test_taints_of_control_planes_come_last_even_unnamed() -> None:
    planes = [node(name, taint="node-role.kubernetes.io/control-plane") for name in "abc"]
    said = (
        "0/4 nodes are available: 1 node(s) were unschedulable, 3 node(s) had untolerated taint(s)."
    )
    cordoned = node("d", 1, taint="node.kubernetes.io/unschedulable")
    cause = cause_for(said, *planes, cordoned)
    assert (cause.title, cause.message) == ("Nodes are cordoned", f"{cause.who}: {CORDONED}")
    assert cause.shares[1].label == "reserved for the control plane"


CORDONED = "Nodes are cordoned (1 of 4 nodes)"


def test_a_tainted_node_of_the_type_is_nearer_than_others() -> None:
    said = f"0/3 nodes are available: {NAMELESS}, 2 node(s) didn't match Pod's node affinity."
    nodes = [node("a", 1, taint="dedicated", type="h100"), node("b", 1), node("c", 1)]
    cause = cause_for(said, *nodes, **H100)
    assert cause.title == "Nodes are reserved for others by the taint dedicated"
    assert cause.todo.startswith("Add a toleration for the taint dedicated, or choose")
    assert cause.message == f"{cause.who}: {cause.title} (1 of 3 nodes)"
    assert [share.label for share in cause.shares] == [
        "reserved for others by the taint dedicated",
        "not of the requested node pool or type",
    ]


def test_a_taint_on_another_type_is_no_cause() -> None:
    said = f"0/3 nodes are available: {NAMELESS}, 2 node(s) didn't match Pod's node affinity."
    nodes = [node("a", 1, taint="dedicated"), node("b", 1), node("c", 1)]
    assert cause_for(said, *nodes, **H100).title == "No node is of the requested pool or type"


def test_a_pod_that_fits_only_tainted_nodes_waits_for_none() -> None:
    said = f"0/3 nodes are available: {NAMELESS}, 2 Insufficient nvidia.com/gpu."
    nodes = [node("a", 1, taint="dedicated"), node("b"), node("c")]
    cause = cause_for(said, *nodes)
    assert cause.title == "Nodes are reserved for others by the taint dedicated"
    tolerations = [{"operator": "Exists"}]
    assert cause_for(said, *nodes, tolerations=tolerations).title == FULL
    silent = [node("a", 1, taint="node.kubernetes.io/not-ready"), node("b"), node("c")]
    assert cause_for(said, *silent).title == FULL, "it comes back"


@pytest.mark.parametrize(
    ("offered", "title"),
    [
        ({}, "No node of the cluster has example.com/fpga"),
        ({"example.com/fpga": 1.0}, "No node of the cluster has 2 example.com/fpga, the most is 1"),
        ({"example.com/fpga": 2.0}, "Not enough free example.com/fpga"),
    ],
)
def test_an_extended_resource_that_no_node_has_is_never_there(
    offered: dict[str, float], title: str
) -> None:
    nodes = [replace(node("a"), resources=offered)]
    said = "0/1 nodes are available: 1 Insufficient example.com/fpga."
    assert cause_for(said, *nodes, requests={"example.com/fpga": "2"}).title == title


def test_a_pod_at_which_the_scheduler_stops_is_not_compared_with_nodes() -> None:
    said = '0/1 nodes are available: persistentvolumeclaim "data" not found.'
    assert cause_for(said, node("a"), **H100).title == "The claim data is missing"


def test_a_node_without_a_free_port_is_one_that_the_pod_selects() -> None:
    said = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."
    cause = cause_for(said, node("a", 1), **H100)
    assert cause.title == "Its port on the host's network is in use on every node", "label is new"


def test_a_taint_on_the_only_fitting_nodes_is_found_with_kai() -> None:
    said = (
        "no nodes with enough resources were found: 1 node(s) had untolerated taint {dedicated: x}."
        " \n2 node(s) didn't have enough resources: GPUs."
    )
    nodes = [node("a", 1, taint="dedicated"), node("b"), node("c")]
    cause = cause_for(said, *nodes)
    assert cause.title == "Nodes are reserved for others by the taint dedicated"
    assert [share.nodes for share in cause.shares] == [1, 2]
