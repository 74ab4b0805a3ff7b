"""Pods that give way to others, as kube-scheduler and KAI say it. Pure."""

from typing import Any

import pytest

from spec.phases import Phase, RankPhase, Reason
from tests.engines.kubernetes.objects import MASTER, UNSCHEDULED, WAITS, ended, pod
from tests.engines.kubernetes.preemptions import KAI_SAID, at, event, look
from tests.engines.kubernetes.status.causes.texts import PREEMPTIONS, GivingWay


def worker(**also: Any) -> dict[str, Any]:
    return pod("worker", 0, **also)


GOES = {"deletionTimestamp": at(11)}
NEXT = {"uid": "worker-0-next"}
LEAVING = worker(metadata=GOES)
AGAIN = worker(phase="Pending", container=WAITS, age=12, spec={}, status=UNSCHEDULED, metadata=NEXT)
BY_POD = event("Preempted by team-b/urgent on node gpu-1.example.com", uid="worker-0")


@pytest.mark.parametrize("told", PREEMPTIONS, ids=lambda told: told.words)
@pytest.mark.parametrize("second", [LEAVING, AGAIN])
def test_a_rank_that_gave_way_says_to_whom(told: GivingWay, second: dict[str, Any]) -> None:
    words = told.words
    said = event(told.said, uid="worker-0" if told.is_about_pod else "")
    seen = look(MASTER, second, events=[said])
    assert (seen.phase, seen.reason) == (Phase.DEGRADED, Reason.PREEMPTED)
    assert seen.message == f"worker-0 (rank 1) {words}"
    assert seen.ranks[1].message == words.removesuffix(".")
    assert not seen.ranks[0].message


def test_a_preempted_gang_is_pending_with_its_cause() -> None:
    seen = look(AGAIN, events=[event(KAI_SAID)])
    assert (seen.phase, seen.reason) == (Phase.PENDING, Reason.PREEMPTED)
    assert seen.cause
    assert seen.cause.title == "Not enough free GPUs"


def test_the_condition_of_the_pod_tells_where_there_is_no_event() -> None:
    told = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "PreemptionByScheduler",
        "message": "default-scheduler: preempting to accommodate a higher priority pod",
        "lastTransitionTime": at(10),
    }
    seen = look(MASTER, worker(metadata=GOES, status={"conditions": [told]}), events=[])
    assert seen.reason is Reason.PREEMPTED
    assert "was preempted: default-scheduler: preempting" in seen.message
    undated = worker(metadata=GOES, status={"conditions": [told | {"lastTransitionTime": None}]})
    assert look(MASTER, undated, events=[]).reason is Reason.PREEMPTED
    drained = told | {"reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"}
    seen = look(MASTER, worker(metadata=GOES, status={"conditions": [drained]}), events=[])
    assert (seen.reason, seen.message) == (
        Reason.NONE,
        "worker-0 (rank 1) was evicted: Eviction API: evicting.",
    )


def test_a_job_that_fails_because_a_rank_gave_way_says_so() -> None:
    """Its peers end sooner, and only because of it."""
    gone = worker(phase="Failed", container=ended(143, 15), metadata=GOES)
    peer = pod("master", 0, phase="Failed", container=ended(1, 12))
    seen = look(peer, gone, events=[BY_POD], true="Failed")
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.PREEMPTED)
    assert seen.message.startswith("worker-0 (rank 1) was preempted by a workload of")
    assert [rank.exit_code for rank in seen.ranks] == [1, None], "the second got SIGTERM"


def test_a_rank_that_runs_again_or_in_another_run_was_not_preempted() -> None:
    back = worker(age=12, metadata=NEXT)
    seen = look(MASTER, back, events=[BY_POD])
    assert (seen.phase, seen.reason, seen.message) == (Phase.RUNNING, Reason.NONE, "")
    crashed = worker(phase="Failed", container=ended(5, 60), age=12, metadata=NEXT)
    assert look(MASTER, crashed, events=[BY_POD]).reason is not Reason.PREEMPTED
    assert look(AGAIN, events=[BY_POD], resumed=30).reason is Reason.WAITING_FOR_CAPACITY
    assert look(MASTER, back, events=[BY_POD]).ranks[1].phase is RankPhase.RUNNING
