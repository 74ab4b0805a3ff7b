"""Now, later, never, unknown; with the words that the page of a waiting workload has."""

import pytest

from engines.kubernetes.status.causes.unschedulable import unschedulable_cause
from projects.quotas import Demand, Quota, StrictQuota
from spec.problems.causes import Cause, CauseKind
from tests.workloads.scheduling.fit.grounds import gang, ground, nodes
from workloads.scheduling.fit.judge import Answer, Fit, predict_fit
from workloads.scheduling.fit.packing import Free

RACK = {"key": "rack", "type": "Required"}


def cause_of(fit: Fit) -> Cause:
    assert fit.cause is not None
    return fit.cause


def test_a_gang_that_fits_starts_now_and_the_largest_is_told() -> None:
    fit = predict_fit(gang(8, gpus=2), ground(nodes(2), nodes(3, free=3)))
    assert (fit.answer, fit.largest) == (Answer.LATER, 7)
    assert predict_fit(gang(7, gpus=2), ground(nodes(2), nodes(3, free=3))).answer is Answer.NOW


def test_a_master_takes_its_place_too() -> None:
    assert predict_fit(gang(4, master=True), ground(nodes(1))).answer is Answer.NEVER
    assert predict_fit(gang(3, master=True), ground(nodes(1))).answer is Answer.NOW


def test_a_master_that_may_spoil_a_place_leaves_it_to_the_queue() -> None:
    """A pod of four GPUs needs a whole node, which the scheduler may give the small master."""
    compute = {"gpuDevicesRequest": 1, "cpuCoreRequest": 1, "cpuMemoryRequest": "1Gi"}
    own = {"master": {"image": "x:1", "compute": compute}}
    spec = gang(2, gpus=4, master=True, whole=own)
    fit = predict_fit(spec, ground(nodes(2), nodes(1, free=2)))
    assert (fit.answer, fit.largest) == (Answer.UNKNOWN, 2)
    assert "wherever it may place the first of them" in fit.note


@pytest.mark.parametrize(
    ("group", "words"),
    [
        (nodes(3, free=0), "Insufficient nvidia.com/gpu"),
        (nodes(3, taint="team"), "node(s) had untolerated taint {team: }"),
        (nodes(3, pool="other"), "node(s) didn't match Pod's node affinity/selector"),
        (nodes(3, cordoned=True), "node(s) were unschedulable"),
        (nodes(3, silent=True), "node(s) had untolerated taint {node.kubernetes.io/not-ready: }"),
    ],
)
def test_the_cause_of_a_wait_is_told_as_after_submission(group: object, words: str) -> None:
    full = nodes(1, free=0, pool="asked")
    fit = predict_fit(gang(whole={"nodePools": ["default", "asked"]}), ground(full, group))  # type: ignore[arg-type]
    if "affinity" in words:
        fit = predict_fit(gang(whole={"nodePools": ["asked"]}), ground(full, group))  # type: ignore[arg-type]
    expected = unschedulable_cause(
        f"0/4 nodes are available: 1 Insufficient nvidia.com/gpu, 3 {words}."
    )
    cause = cause_of(fit)
    assert (cause.kind, cause.title, cause.todo) == (expected.kind, expected.title, expected.todo)
    assert (set(cause.shares), cause.total) == (set(expected.shares), 4)


def test_cpu_and_memory_rule_nodes_out_after_the_pods_before() -> None:
    busy = nodes(2)._replace(free=Free(1.5, 8 * 1024**3, (1.0,) * 4))
    fit = predict_fit(gang(3), ground(busy))
    assert (cause_of(fit).title, fit.largest) == ("Not enough free CPU", 2)


@pytest.mark.parametrize(
    ("spec", "title"),
    [
        (gang(gpus=8), "No node of big has 8 GPUs, the most is 4"),
        (gang(9), "Even without other workloads, 8 of its 9 pods fit on big"),
        (gang(nodeType="h100"), "No node is of the requested pool or type"),
        (gang(whole={"nodePools": ["empty"]}), "No node is of the requested pool or type"),
    ],
)
def test_a_gang_that_no_empty_cluster_could_take_never_starts(spec: object, title: str) -> None:
    fit = predict_fit(spec, ground(nodes(1, free=0), nodes(1, cordoned=True)))  # type: ignore[arg-type]
    assert (fit.answer, cause_of(fit).title) == (Answer.NEVER, title)
    assert cause_of(fit).todo.startswith("It will never start unless such nodes are added.")


def test_a_toleration_opens_nodes_that_are_reserved() -> None:
    tolerates = gang(tolerations=[{"key": "team", "operator": "Exists"}])
    assert predict_fit(tolerates, ground(nodes(1, taint="team"))).answer is Answer.NOW
    fit = predict_fit(gang(), ground(nodes(1, taint="team")))
    title = "Nodes are reserved for others by the taint team"
    assert (fit.answer, cause_of(fit).title) == (Answer.NEVER, title)


def test_a_taint_on_nodes_of_the_type_is_nearer_than_another_type() -> None:
    of_type = nodes(1, taint="dedicated", labels={"run.ai/type": "h100"})
    fit = predict_fit(gang(nodeType="h100"), ground(of_type, nodes(4), nodes(2, taint="infra")))
    cause = cause_of(fit)
    assert (fit.answer, cause.title) == (
        Answer.NEVER,
        "Nodes are reserved for others by the taint dedicated",
    )
    assert cause.todo.startswith("Add a toleration for the taint dedicated, or choose")
    assert [share.nodes for share in cause.shares] == [1, 4, 2]


def test_a_taint_on_the_only_large_nodes_is_the_lack() -> None:
    fit = predict_fit(gang(gpus=4), ground(nodes(1, taint="team"), nodes(3, gpus=0)))
    assert cause_of(fit).title == "Nodes are reserved for others by the taint team"


def test_pods_that_seek_each_other_need_one_rack() -> None:
    racks = [nodes(2, labels={"rack": "a"}), nodes(1, labels={"rack": "b"}), nodes(9)]
    fit = predict_fit(gang(9, podAffinity=RACK), ground(*racks))
    assert cause_of(fit).title.startswith(
        "Even without other workloads, 8 of its 9 pods fit within"
    )
    assert predict_fit(gang(8, podAffinity=RACK), ground(racks[0])).answer is Answer.NOW
    assert predict_fit(gang(8, podAffinity=RACK), ground(*racks)).answer is Answer.UNKNOWN


def test_a_quota_bounds_the_largest_gang() -> None:
    account = StrictQuota("project", "team-a", Quota(4, None, None), Demand(gpus=2))
    fit = predict_fit(gang(3), ground(nodes(4), accounts={"default": (account,)}))
    assert (cause_of(fit).kind, fit.largest) == (CauseKind.QUOTA, 2)
    assert "together they ask for 5 GPUs" in cause_of(fit).title


def test_resources_that_nobody_counts_leave_it_to_the_queue() -> None:
    assert predict_fit(gang(), ground()).answer is Answer.UNKNOWN
    assert predict_fit(gang(), ground(nodes()._replace(free=None))).answer is Answer.UNKNOWN
    compute = {"extendedResources": [{"resource": "rdma/hca", "quantity": "1"}]}
    fit = predict_fit(gang(compute=compute), ground(nodes()))
    assert (fit.answer, "rdma/hca" in fit.note) == (Answer.UNKNOWN, True)
