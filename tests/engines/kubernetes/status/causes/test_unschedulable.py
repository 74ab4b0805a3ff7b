"""The scheduler's words become counts and one cause, whichever release said them. Pure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.kubernetes.status.causes.unschedulable import count_phrases, unschedulable_cause
from spec.phases import Reason
from spec.problems.causes import CauseKind

OLD = (
    "0/12 nodes are available: 8 Insufficient nvidia.com/gpu, 4 node(s) had taint "
    "{dedicated: infra}, that the pod didn't tolerate."
)
NEW = (
    "0/12 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/"
    "control-plane: }, 3 node(s) didn't match Pod's node affinity/selector, 8 Insufficient "
    "nvidia.com/gpu. preemption: 0/12 nodes are available: 4 Preemption is not helpful for "
    "scheduling, 8 No preemption victims found for incoming pod."
)
NEWEST = (
    "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 "
    "nodes are available: 3 No preemption victims found for incoming pod."
)


@pytest.mark.parametrize(
    ("said", "title", "shares", "total"),
    [
        (OLD, "Not enough free GPUs", [8, 4], 12),
        (NEW, "Not enough free GPUs", [8, 3, 1], 12),
        (NEWEST, "Not enough free CPU", [3], 3),
        (
            "0/2 nodes are available: 1 Insufficient memory, 2 Insufficient nvidia.com/gpu.",
            "Not enough free GPUs",
            [2, 1],
            2,
        ),
        (
            "0/5 nodes are available: 5 node(s) didn't match node selector.",
            "No node is of the requested pool or type",
            [5],
            5,
        ),
        (
            "0/4 nodes are available: 3 node(s) had taint {node.kubernetes.io/unreachable: }, that "
            "the pod didn't tolerate, 1 node(s) were unschedulable.",
            "Nodes do not answer",
            [3, 1],
            4,
        ),
        (
            "0/2 nodes are available: 2 node(s) had untolerated taint(s).",
            "Nodes are reserved for others by a taint",
            [2],
            2,
        ),
        (
            "0/1 nodes are available: 1 pod has unbound immediate PersistentVolumeClaims.",
            "A volume does not exist yet",
            [1],
            1,
        ),
        (
            'persistentvolumeclaim "data" not found',
            "The claim data is missing",
            [],
            0,
        ),
        (
            '0/6 nodes are available: persistentvolumeclaim "data" not found. preemption: 0/6 '
            "nodes are available: 6 Preemption is not helpful for scheduling.",
            "The claim data is missing",
            [6],
            6,
        ),
        (
            "0/9 nodes are available: 9 node(s) had volume node affinity conflict.",
            "Its volume cannot be used on these nodes",
            [9],
            9,
        ),
        (
            "0/7 nodes are available: 5 Too many pods, 2 Insufficient rdma/rdma.",
            "The nodes run as many pods as allowed",
            [5, 2],
            7,
        ),
        ("no nodes available to schedule pods", "The cluster has no node that accepts pods", [], 0),
        ("0/3 nodes are available", "The scheduler finds no node", [], 3),
        (
            "Something no scheduler said before",
            "The scheduler finds no node: Something no scheduler said before",
            [],
            0,
        ),
    ],
)
def test_the_dominant_cause_is_named(said: str, title: str, shares: list[int], total: int) -> None:
    cause = unschedulable_cause(said)
    assert (cause.title, [share.nodes for share in cause.shares], cause.total) == (
        title,
        shares,
        total,
    )
    assert cause.said == said
    assert cause.todo or cause.kind is CauseKind.OTHER


def test_a_taint_is_named_with_the_next_step() -> None:
    cause = unschedulable_cause(OLD.replace("8 Insufficient nvidia.com/gpu, ", ""))
    assert cause.title == "Nodes are reserved for others by the taint dedicated"
    assert "toleration" in cause.todo
    assert cause.reason is Reason.WAITING_FOR_CAPACITY
    assert cause.message == "Nodes are reserved for others by the taint dedicated (4 of 12 nodes)"


PHRASES = st.sampled_from(
    [
        "Insufficient cpu",
        "Insufficient nvidia.com/gpu",
        "node(s) had taint {a: b}, that the pod didn't tolerate",
        "node(s) had untolerated taint {gpu.example.com/kind: 4}",
        "node(s) didn't match Pod's node affinity/selector",
        "node(s) had volume node affinity conflict",
        "something that a later release says",
    ]
)
TAILS = st.sampled_from(
    [
        ".",
        ". preemption: 0/9 nodes are available: 9 Preemption is not helpful for scheduling.",
        ". no new claims to deallocate, preemption: not eligible due to a terminating pod.",
    ]
)


@given(st.dictionaries(PHRASES, st.integers(1, 5000), min_size=1), TAILS)
def test_every_count_is_found_again(said: dict[str, int], tail: str) -> None:
    body = ", ".join(f"{nodes} {phrase}" for phrase, nodes in said.items())
    found = count_phrases(f"0/9999 nodes are available: {body}{tail}")
    assert found == (9999, said)
    cause = unschedulable_cause(f"0/9999 nodes are available: {body}{tail}")
    assert sum(share.nodes for share in cause.shares) == sum(said.values())


@given(st.text())
def test_any_text_of_the_scheduler_is_kept_as_it_is(said: str) -> None:
    assert unschedulable_cause(said).said == said
