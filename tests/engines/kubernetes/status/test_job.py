"""A job and its pods make one phase. Pure: no cluster."""

from datetime import timedelta
from typing import Any

import pytest

from engines.base import Observation
from engines.kubernetes.jobs import MPI
from engines.kubernetes.status.job import sequence
from spec.phases import Phase, RankPhase, Reason
from spec.workload import LauncherPolicy
from tests.engines.kubernetes.objects import (
    DONE,
    FULL,
    MASTER,
    QUOTA,
    RUNNING,
    START,
    STARTING,
    UNPLACED,
    UNREADY,
    UNSCHEDULED,
    WAITS,
    WORKER,
    ended,
    event,
    look,
    pod,
)

REPLACED = pod("worker", 0, phase="Pending", container=WAITS, age=60)
LOOPING = pod("worker", 0, container={"restartCount": 2, "lastState": ended(1, 5)["state"]})
LEAVING = pod("worker", 0, metadata={"deletionTimestamp": START.isoformat()})


@pytest.mark.parametrize(
    ("seen", "phase"),
    [
        (look(), Phase.PENDING),
        (look(MASTER, UNPLACED), Phase.PENDING),
        (look(MASTER, STARTING), Phase.INITIALIZING),
        (look(MASTER, UNREADY), Phase.INITIALIZING),
        (look(MASTER, WORKER), Phase.RUNNING),
        (look(MASTER, pod("worker", 0, phase="Succeeded", container=DONE)), Phase.RUNNING),
        (look(MASTER), Phase.DEGRADED),
        (look(MASTER, REPLACED), Phase.DEGRADED),
        (look(MASTER, LOOPING), Phase.DEGRADED),
        (look(MASTER, LEAVING), Phase.DEGRADED),
        (look(MASTER, WORKER, suspend=True), Phase.STOPPING),
        (look(true="Suspended", suspend=True), Phase.STOPPED),
        (look(MASTER, true="Succeeded", suspend=True), Phase.COMPLETED),
        (look(MASTER, true="Failed"), Phase.FAILED),
    ],
)
def test_the_phase_follows_from_job_and_pods(seen: Observation, phase: Phase) -> None:
    assert seen.phase is phase
    assert seen.run == 3


def late(index: int, age: int) -> dict[str, Any]:
    """A worker whose pod waits for a node."""
    waits = {"container": WAITS, "spec": {}, "status": UNSCHEDULED}
    return pod("worker", index, phase="Pending", age=age, **waits)


def lost(*pods: dict[str, Any], **also: Any) -> list[bool]:
    return [rank.lost_its_node for rank in look(*pods, **also).ranks]


def test_a_rank_with_a_replaced_pod_has_no_node_until_scheduled() -> None:
    assert lost(MASTER, late(0, age=60)) == [False, True]
    assert lost(MASTER, UNPLACED) == [False, False]
    assert lost(MASTER, REPLACED) == [False, False], "it has another"
    assert lost(MASTER) == [False, False], "nobody knows whether it ever had a pod"


def test_a_pod_that_was_long_refused_replaces_none() -> None:
    refusal = event("FailedCreatePod", QUOTA)
    assert lost(MASTER, late(0, age=60), events=[refusal]) == [False, False]


@pytest.mark.parametrize("policy", LauncherPolicy)
def test_a_launcher_that_waits_for_the_workers_replaces_none(policy: LauncherPolicy) -> None:
    launcher = late(0, age=60)
    launcher["metadata"]["labels"]["training.kubeflow.org/replica-type"] = "launcher"
    waits = policy is LauncherPolicy.WAIT_FOR_WORKERS_READY
    assert lost(WORKER, launcher, kind=MPI, launcherCreationPolicy=policy) == [not waits, False]


def test_the_pods_of_a_large_gang_are_made_one_after_the_other() -> None:
    """None of them replaces another, however long after the first it is made."""
    starting = [pod("worker", it, phase="Pending", container=WAITS, age=4 * it) for it in range(9)]
    gang = look(MASTER, *starting, late(9, age=36), workers=10)
    assert (gang.phase, any(it.lost_its_node for it in gang.ranks)) == (Phase.PENDING, False)
    assert look(MASTER, *starting, workers=9).phase is Phase.INITIALIZING


def test_an_unscheduled_pod_says_why() -> None:
    seen = look(MASTER, UNPLACED)
    assert seen.reason is Reason.WAITING_FOR_CAPACITY
    assert seen.message == "worker-0 (rank 1): Not enough free GPUs (2 of 3 nodes)"
    assert seen.cause
    assert seen.cause.said == FULL


def test_an_image_that_cannot_be_had_is_named() -> None:
    waiting = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}
    seen = look(MASTER, pod("worker", 0, phase="Pending", container=waiting))
    assert (seen.phase, seen.reason) == (Phase.INITIALIZING, Reason.IMAGE_UNKNOWN)
    assert seen.cause
    assert seen.cause.said == "ImagePullBackOff: no such image"


def test_a_gang_without_pods_says_whether_it_had_any() -> None:
    for seen, title in (
        (look(), "Waiting for the operator to create the pods"),
        (look(LEAVING), "All its pods are gone; waiting for the operator to create new ones"),
    ):
        assert seen.cause
        assert (seen.phase, seen.cause.title) == (Phase.PENDING, title)


def test_the_rank_that_failed_first_is_named() -> None:
    late = pod("master", 0, phase="Failed", container=ended(1, 9))
    early = pod("worker", 0, phase="Failed", container=ended(137, 5, "OOMKilled"))
    seen = look(late, early, true="Failed")
    assert seen.reason is Reason.OUT_OF_MEMORY
    assert seen.message.startswith("worker-0 (rank 1) exited with code 137: it used more memory")
    assert [rank.exit_code for rank in seen.ranks] == [1, 137]


@pytest.mark.parametrize("now", [ended(143, 9), RUNNING])
def test_a_rank_removed_at_the_backoff_limit_keeps_its_failure(
    now: dict[str, Any],
) -> None:
    removed = now | {"restartCount": 1, "lastState": ended(4, 5)["state"]}
    gone = {"deletionTimestamp": (START + timedelta(seconds=8)).isoformat()}
    worker = pod("worker", 0, container=removed, metadata=gone)
    seen = look(MASTER, worker, true="Failed", ended_at=8)
    assert seen.message == "worker-0 (rank 1) exited with code 4."
    assert (seen.ranks[1].phase, seen.ranks[1].exit_code) == (RankPhase.FAILED, 4)
    assert seen.ranks[0].phase is RankPhase.STOPPED


def test_ranks_that_were_cut_short_are_stopped_with_their_workload() -> None:
    seen = look(pod("master", 0, phase="Succeeded", container=DONE), LEAVING, true="Succeeded")
    assert [rank.phase for rank in seen.ranks] == [RankPhase.SUCCEEDED, RankPhase.STOPPED]


def test_an_end_is_later_than_all_before_it() -> None:
    assert look(MASTER, true="Succeeded").sequence > look(MASTER, WORKER).sequence
    assert look(MASTER, WORKER).sequence == sequence(20, 0)


@pytest.mark.parametrize("state", ["state", "lastState"])
def test_a_container_that_vanished_with_its_node_failed_at_an_unknown_time(state: str) -> None:
    lost = {"terminated": {"exitCode": 137, "reason": "ContainerStatusUnknown", "finishedAt": None}}
    vanished = pod("worker", 0, container={state: lost})
    seen = look(pod("master", 0, container=ended(1, 5)), vanished, true="Failed")
    assert seen.message == "master-0 (rank 0) exited with code 1."
    assert (seen.ranks[1].phase, seen.ranks[1].reason) == (RankPhase.FAILED, Reason.LOST)
    assert seen.ranks[1].exit_code is None, "kubelet makes it up"
    assert seen.ranks[1].finished_at is None
