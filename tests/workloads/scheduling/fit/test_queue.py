"""The verdict where a queue of Kueue decides when a gang starts."""

from dataclasses import replace

import pytest

from engines.local_queues import CPU, GPU, MEMORY, LocalQueue, ResourceQuota
from spec.phases import Reason
from spec.problems.causes import CauseKind
from spec.workload import WorkloadSpec
from tests.workloads.scheduling.fit.grounds import GIB, gang, ground, nodes
from workloads.scheduling.fit.judge import Answer, Ground, predict_fit
from workloads.scheduling.fit.repairs import RepairKind, find_repairs

COVERED = (ResourceQuota(CPU, 64, 64, 64), ResourceQuota(MEMORY, 256 * GIB, None, None))


def queued(gpus: ResourceQuota, **more: str) -> Ground:
    """Return four free nodes of 4 GPUs, behind a queue with this quota of GPUs."""
    queue = LocalQueue("trainyard-a", "team", "gpus", quotas=(gpus, *COVERED), **more)
    return ground(nodes(4), queue=queue)


def quota(nominal: float, most: float | None = None, of_role: float | None = None) -> ResourceQuota:
    return ResourceQuota(GPU, nominal, most, of_role)


@pytest.mark.parametrize(
    "spec", [gang(2), gang(3, 4, master=True)], ids=["that fits now", "that fits later"]
)
def test_nobody_can_say_when_a_gang_starts(spec: WorkloadSpec) -> None:
    fit = predict_fit(spec, queued(quota(16)))
    assert (fit.answer, fit.cause, fit.largest) == (Answer.UNKNOWN, None, None)
    assert fit.note.startswith("Kueue's queue team decides when it starts.")


@pytest.mark.parametrize(
    ("gpus", "words"),
    [
        (quota(8, 8, 8), "8 GPUs, 64 CPU cores, 256 GiB of memory and what it may borrow."),
        (quota(8, 12, 12), "8 GPUs, 12 GPUs with what it may borrow, 64 CPU cores"),
        (quota(8), "8 GPUs and what it may borrow, 64 CPU cores"),
    ],
)
def test_the_quota_of_the_cluster_queue_is_told(gpus: ResourceQuota, words: str) -> None:
    note = predict_fit(gang(2), queued(gpus)).note
    assert f"The quota of its ClusterQueue gpus: {words}" in note


def test_a_gang_beyond_the_most_of_a_queue_never_starts() -> None:
    fit = predict_fit(gang(3, 4), queued(quota(8, 10, 10)))
    assert fit.answer is Answer.NEVER
    assert fit.cause
    assert (fit.cause.kind, fit.cause.reason) == (CauseKind.QUOTA, Reason.NEVER_FITS)
    assert fit.cause.title == (
        "More than queue team can ever give: 12 GPUs requested, 10 GPUs at most"
    )
    assert predict_fit(gang(2, 4), queued(quota(8, 10, 10))).answer is Answer.UNKNOWN


def test_pods_of_a_role_share_a_flavor_but_roles_differ() -> None:
    two_flavors = quota(8, 8, of_role=4)
    assert predict_fit(gang(2, 4), queued(two_flavors)).answer is Answer.NEVER
    assert predict_fit(gang(1, 4, master=True), queued(two_flavors)).answer is Answer.UNKNOWN


def test_a_gang_that_no_node_can_hold_never_starts_either() -> None:
    fit = predict_fit(gang(1, 8), queued(quota(16)))
    assert (fit.answer, fit.cause and fit.cause.kind) == (Answer.NEVER, CauseKind.NODES)


def test_a_resource_without_a_quota_and_an_inactive_queue_are_told() -> None:
    start = queued(quota(8))
    assert start.queue
    only_gpus = replace(start.queue, quotas=(quota(8),), why_inactive="it is stopped.")
    note = predict_fit(gang(2), replace(start, queue=only_gpus)).note
    assert "It starts nothing now: it is stopped." in note
    assert (
        "There is none for CPU cores, memory, without which Kueue normally starts no pod." in note
    )


def test_without_its_quota_a_queue_still_decides() -> None:
    queue = LocalQueue("trainyard-a", "team", "gpus")
    fit = predict_fit(gang(2), ground(nodes(4), queue=queue))
    assert (fit.answer, fit.note) == (
        Answer.UNKNOWN,
        "Kueue's queue team decides when it starts.",
    )


def test_a_repair_of_what_never_starts_is_left_to_the_queue() -> None:
    pooled = gang(1, 4, whole={"nodePools": ["small"]})
    behind = replace(queued(quota(16)), groups=(nodes(1, pool="big"), nodes(1, 2, pool="small")))
    fit = predict_fit(pooled, behind)
    assert fit.answer is Answer.NEVER
    repairs = find_repairs(pooled, behind, fit)
    assert ("pool=big", Answer.UNKNOWN) in [(it.change, it.answer) for it in repairs]


def test_fewer_workers_are_offered_beyond_the_maximum_of_a_queue() -> None:
    large = gang(7, 2)
    behind = queued(quota(8, 10, 10))
    fit = predict_fit(large, behind)
    assert fit.answer is Answer.NEVER
    (fewer, *_) = (it for it in find_repairs(large, behind, fit) if it.kind is RepairKind.WORKERS)
    assert (fewer.change, fewer.answer) == ("workers=5", Answer.UNKNOWN)
