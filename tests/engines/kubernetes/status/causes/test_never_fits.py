"""A pod that no node can ever take is told from one that waits for its turn. Pure."""

from dataclasses import replace
from typing import Any

import pytest

from engines.kubernetes.status.causes.never_fits import admits, with_never_fits
from engines.nodes import Gpu, NodeInfo
from spec.problems.causes import CauseKind
from tests.engines.kubernetes.objects import MASTER, UNSCHEDULED, WAITS, look, pod

FULL = "Not enough free GPUs"
NAME = "worker-0 (rank 1)"


def node(name: str, gpus: int = 0, **labels: str) -> NodeInfo:
    have = tuple(Gpu(index, "H100", 80 * 10**9) for index in range(gpus))
    return NodeInfo(name, 8.0, 10**10, have, labels=labels)


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


def said(gpus: int, *nodes: NodeInfo, **spec: Any) -> str:
    one = waiting(gpus, spec)
    seen = with_never_fits(look(MASTER, one), [MASTER, one], lambda: nodes)
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
def test_a_pod_that_asks_for_more_gpus_than_any_node_has_never_fits(
    gpus: int, nodes: list[int], told: str
) -> None:
    assert said(gpus, *(node(f"n{i}", have) for i, have in enumerate(nodes))) == told


def test_only_nodes_that_a_pod_may_be_on_count_for_whether_it_ever_fits() -> None:
    nodes = node("a", pool="cpu"), node("b", pool="cpu"), node("c", 8, pool="gpu")
    expression = {"key": "pool", "operator": "In", "values": ["cpu"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    affinity = {"nodeAffinity": required}
    assert said(1, *nodes, affinity=affinity) == "No node of the requested pool or type has GPUs"
    assert said(1, *nodes, nodeSelector={"pool": "gpu"}) == FULL
    assert said(1, *nodes, nodeSelector={"pool": "other"}) == FULL, "our labels are too old"


def test_a_pod_that_never_fits_says_what_to_do_and_what_the_scheduler_said() -> None:
    one = waiting(1, {})
    before = look(MASTER, one)
    cause = with_never_fits(before, [one], lambda: [node(name) for name in "abc"]).cause
    assert cause
    assert before.cause
    assert (cause.kind, cause.said) == (CauseKind.NODES, before.cause.said)
    assert cause.todo.startswith("It will never start")
    assert with_never_fits(replace(before, cause=None), [one], list) == replace(before, cause=None)


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
