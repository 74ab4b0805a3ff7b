"""Pods that are deleted, evicted, drained or preempted: how their programs end is no end. Pure."""

from datetime import timedelta
from typing import Any

import pytest

from engines.base import RankState
from spec.phases import Phase, RankPhase, Reason
from tests.engines.kubernetes.objects import DONE, MASTER, START, WORKER, ended, look, pod


def time_at(second: float) -> str:
    return (START + timedelta(seconds=second)).isoformat()


def deleted(second: float, *, grace: int = 30) -> dict[str, Any]:
    """Return the metadata of a pod that somebody asked to delete at this second."""
    return {"deletionTimestamp": time_at(second + grace), "deletionGracePeriodSeconds": grace}


def disrupted(second: float, why: str = "EvictionByEvictionAPI") -> dict[str, Any]:
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": why,
        "message": "Eviction API: evicting",
        "lastTransitionTime": time_at(second),
    }
    return {"conditions": [condition]}


DELETED: dict[str, Any] = {"metadata": deleted(5)}
EVICTED: dict[str, Any] = {"metadata": deleted(5), "status": disrupted(5)}
BY_NODE = {"status": {"reason": "Evicted", "message": "The node was low on resource: memory."}}
GONE = "lost its pod, which someone deleted on the cluster"
REMOVALS = [
    (DELETED, GONE),
    (EVICTED, "was evicted: Eviction API: evicting"),
    (BY_NODE, "was evicted: The node was low on resource: memory"),
]


def end_of(state: RankState) -> tuple[RankPhase, Reason, int | None]:
    return state.phase, state.reason, state.exit_code


@pytest.mark.parametrize(("removal", "words"), REMOVALS)
def test_a_job_is_not_complete_because_a_removed_master_answered_with_0(
    removal: dict[str, Any], words: str
) -> None:
    master = pod("master", 0, phase="Succeeded", container=ended(0, 9, "Completed"), **removal)
    seen = look(master, WORKER, true="Succeeded")
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.LOST)
    assert seen.message.startswith(f"master-0 (rank 0) {words}. Its program then ended with exit")
    assert end_of(seen.ranks[0]) == (RankPhase.FAILED, Reason.LOST, None)
    assert seen.ranks[0].message == words
    assert seen.ranks[1].phase is RankPhase.STOPPED, "its operator removed it"


@pytest.mark.parametrize(("removal", "words"), REMOVALS)
@pytest.mark.parametrize("code", [137, 143, 0])
def test_a_job_failed_by_a_removed_pod_tells_no_exit_code(
    removal: dict[str, Any], words: str, code: int
) -> None:
    phase = "Failed" if code else "Succeeded"
    worker = pod("worker", 0, phase=phase, container=ended(code, 9), **removal)
    cleaned = pod("master", 0, phase="Failed", container=ended(143, 12), metadata=deleted(11))
    seen = look(cleaned, worker, true="Failed", ended_at=10)
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.LOST)
    assert seen.message == f"worker-0 (rank 1) {words}."
    assert end_of(seen.ranks[1]) == (RankPhase.FAILED, Reason.LOST, None)
    assert end_of(seen.ranks[0]) == (RankPhase.STOPPED, Reason.NONE, None)


def test_an_operator_that_decides_at_once_blames_no_other_rank() -> None:
    """It also removes the other pods in that second, and says of which role one failed."""
    master = pod("master", 0, **DELETED)
    worker = pod("worker", 0, **DELETED)
    said = "PyTorchJob demo is failed because 1 Worker replica(s) failed."
    seen = look(master, worker, true="Failed", ended_at=5, said=said)
    assert seen.message == f"worker-0 (rank 1) {GONE}."
    assert [rank.phase for rank in seen.ranks] == [RankPhase.STOPPED, RankPhase.FAILED]


def test_ranks_that_the_operator_removes_after_a_failure_are_stopped() -> None:
    failed = pod("worker", 0, phase="Failed", container=ended(1, 9))
    cleaned = pod("master", 0, phase="Failed", container=ended(137, 40), metadata=deleted(9))
    seen = look(cleaned, failed, true="Failed", ended_at=10)
    assert seen.message == "worker-0 (rank 1) exited with code 1."
    assert end_of(seen.ranks[0]) == (RankPhase.STOPPED, Reason.NONE, None)
    assert end_of(seen.ranks[1]) == (RankPhase.FAILED, Reason.RANK_FAILED, 1)


@pytest.mark.parametrize(
    "removal",
    [
        {"metadata": deleted(12)},
        {"metadata": deleted(9, grace=0)},  # within a second: it had ended, so no grace
        {"metadata": deleted(12, grace=0), "status": disrupted(12)},
    ],
)
def test_a_rank_that_had_ended_before_its_pod_was_removed_has_succeeded(
    removal: dict[str, Any],
) -> None:
    master = pod("master", 0, phase="Succeeded", container=ended(0, 9), **removal)
    seen = look(master, true="Succeeded")
    assert seen.phase is Phase.COMPLETED
    assert end_of(seen.ranks[0]) == (RankPhase.SUCCEEDED, Reason.NONE, 0)


def test_a_program_that_ends_within_the_second_of_its_removal_was_removed() -> None:
    master = pod("master", 0, phase="Succeeded", container=ended(0, 5), **EVICTED)
    assert look(master, true="Succeeded").phase is Phase.FAILED


def test_workers_alone_complete_if_one_of_them_succeeds() -> None:
    gone = pod("worker", 0, phase="Succeeded", container=ended(0, 9), **EVICTED)
    done = pod("worker", 1, phase="Succeeded", container=DONE)
    replicas: dict[str, Any] = {"pytorchReplicaSpecs": {"Worker": {"replicas": 2}}}
    assert look(gone, done, true="Succeeded", **replicas).phase is Phase.COMPLETED
    assert look(gone, true="Succeeded", **replicas).phase is Phase.FAILED


def test_a_removed_rank_of_an_active_job_waits_for_another_pod() -> None:
    gone = pod("worker", 0, phase="Succeeded", container=ended(0, 9), **EVICTED)
    seen = look(MASTER, gone)
    assert (seen.phase, seen.reason) == (Phase.DEGRADED, Reason.NONE)
    assert seen.message == "worker-0 (rank 1) was evicted: Eviction API: evicting."
    assert (seen.ranks[1].phase, seen.ranks[1].exit_code) == (RankPhase.PENDING, None)


def test_a_stop_is_no_removal() -> None:
    leaving = pod("worker", 0, phase="Failed", container=ended(143, 9), **DELETED)
    seen = look(leaving, suspend=True)
    assert (seen.phase, seen.ranks[1].reason) == (Phase.STOPPING, Reason.NONE)
