"""A job and its pods make one phase. Pure: no cluster."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from engines.base import Observation
from engines.kubernetes.kinds import PYTORCH, RUN, WORKLOAD
from engines.kubernetes.observing import Look, sequence
from spec.phases import Phase, RankPhase, Reason

START = datetime(2026, 1, 1, tzinfo=UTC)
RUNNING = {"state": {"running": {"startedAt": START.isoformat()}}, "ready": True}
DONE = {"state": {"terminated": {"exitCode": 0, "finishedAt": START.isoformat()}}}
FULL = "0/3 nodes are available: 2 Insufficient nvidia.com/gpu, 1 node(s) were unschedulable."
UNSCHEDULED = {"conditions": [{"type": "PodScheduled", "status": "False", "message": FULL}]}


def pod(
    role: str, index: int, *, phase: str = "Running", age: int = 0, **also: Any
) -> dict[str, Any]:
    container = {"name": "pytorch", "restartCount": 0} | also.pop("container", RUNNING)
    status = {"phase": phase, "containerStatuses": [container]} | also.pop("status", {})
    labels = {
        "training.kubeflow.org/replica-type": role,
        "training.kubeflow.org/replica-index": str(index),
    }
    meta = {
        "uid": f"{role}-{index}",
        "name": f"demo-{role}-{index}",
        "labels": labels,
        "resourceVersion": "20",
        "creationTimestamp": (START + timedelta(seconds=age)).isoformat(),
    }
    return {
        "metadata": meta | also.pop("metadata", {}),
        "spec": also.pop("spec", {"nodeName": "n1"}),
        "status": status,
    }


def ended(code: int, second: int, reason: str = "Error") -> dict[str, Any]:
    at = (START + timedelta(seconds=second)).isoformat()
    return {"state": {"terminated": {"exitCode": code, "finishedAt": at, "reason": reason}}}


def look(*pods: dict[str, Any], true: str = "", suspend: bool = False) -> Observation:
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": START.isoformat()}
        for kind in ("Created", *filter(None, [true]))
    ]
    job = {
        "metadata": {
            "uid": "job",
            "labels": {WORKLOAD: str(uuid4())},
            "annotations": {RUN: "3"},
            "resourceVersion": "10",
            "creationTimestamp": START.isoformat(),
        },
        "spec": {
            "runPolicy": {"suspend": suspend},
            "pytorchReplicaSpecs": {"Master": {"replicas": 1}, "Worker": {"replicas": 1}},
        },
        "status": {"conditions": conditions},
    }
    return Look.at(PYTORCH, job, pods).observation()


MASTER, WORKER = pod("master", 0), pod("worker", 0)
WAITS = {"state": {"waiting": {"reason": "PodInitializing"}}}
UNREADY = pod("worker", 0, container=RUNNING | {"ready": False})  # its probe says so
STARTING = pod("worker", 0, phase="Pending", container=WAITS)
UNPLACED = pod("worker", 0, phase="Pending", container=WAITS, spec={}, status=UNSCHEDULED)
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
        (look(), "Waiting for the operator to make the pods"),
        (look(LEAVING), "All its pods are gone; the operator has to make new ones"),
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
def test_a_rank_that_was_removed_at_the_backoff_limit_ended_with_its_failure(
    now: dict[str, Any],
) -> None:
    removed = now | {"restartCount": 1, "lastState": ended(4, 5)["state"]}
    gone = {"deletionTimestamp": START.isoformat()}
    seen = look(MASTER, pod("worker", 0, container=removed, metadata=gone), true="Failed")
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
    assert (seen.ranks[1].phase, seen.ranks[1].exit_code) == (RankPhase.FAILED, 137)
    assert seen.ranks[1].finished_at is None
