"""Clusters that add nodes when there is work for them. Pure."""

import pytest

from engines.kubernetes.status.causes.autoscaler import ADDS
from engines.kubernetes.status.causes.known_nodes import with_known_nodes
from engines.nodes import NodeInfo
from spec.problems.causes import Cause, CauseKind
from tests.engines.kubernetes.objects import MASTER, UNPLACED, event, look, pod

ADDED = "pod triggered scale-up: [{gpu-pool 0->1 (max: 8)}]"
REFUSED = "pod didn't trigger scale-up: 1 max node group size reached"


def caused(*said: tuple[str, str, float]) -> Cause:
    events = [
        event(reason, words, about=UNPLACED, second=second, warns=False)
        for reason, words, second in said
    ]
    cause = look(MASTER, UNPLACED, events=events).cause
    assert cause
    return cause


@pytest.mark.parametrize(
    ("reason", "words"),
    [("TriggeredScaleUp", ADDED), ("Nominated", "Pod should schedule on: nodeclaim/gpu-x7k2p")],
)
def test_a_pod_for_which_nodes_are_added_waits_for_them(reason: str, words: str) -> None:
    cause = caused((reason, words, 5))
    assert (cause.kind, cause.title) == (CauseKind.CAPACITY, ADDS)
    assert cause.said.startswith(words)


def test_nodes_that_do_not_come_in_time_are_not_waited_for() -> None:
    cause = caused(("TriggeredScaleUp", ADDED, 5), ("FailedScheduling", "0/3 nodes", 1000))
    assert cause.title == "Not enough free GPUs"
    assert ADDED in cause.said


def test_the_last_word_of_an_autoscaler_counts() -> None:
    cause = caused(("NotTriggerScaleUp", REFUSED, 5), ("TriggeredScaleUp", ADDED, 65))
    assert cause.title == ADDS
    cause = caused(("TriggeredScaleUp", ADDED, 5), ("NotTriggerScaleUp", REFUSED, 65))
    assert cause.title == "Not enough free GPUs"
    assert cause.todo.startswith("The autoscaler does not add a node for it.")
    assert REFUSED in cause.said


def test_no_pod_never_fits_while_nodes_are_added_for_it() -> None:
    """The nodes that there are say nothing about those to come."""
    resources = {"requests": {"nvidia.com/gpu": "1"}}
    asking = pod(
        "worker",
        0,
        phase="Pending",
        spec={"containers": [{"name": "pytorch", "resources": resources}]},
        status=UNPLACED["status"],
    )
    nodes = [NodeInfo(name, 8.0, 10**10) for name in "abc"]
    seen = look(MASTER, asking)
    assert with_known_nodes(seen, [asking], lambda: nodes) != seen
    added = event("TriggeredScaleUp", ADDED, about=asking, warns=False)
    seen = look(MASTER, asking, events=[added])
    assert with_known_nodes(seen, [asking], lambda: nodes) == seen
