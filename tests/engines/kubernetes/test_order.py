"""Observations grow from one to the next, in whatever order changes arrive. No cluster."""

from copy import deepcopy
from typing import Any
from uuid import uuid4

from engines.base import Observation
from engines.kubernetes.kinds import PYTORCH, REPLICA_INDEX, REPLICA_TYPE, RUN, WORKLOAD
from engines.kubernetes.known import Known
from engines.kubernetes.watching import is_news
from spec.phases import Phase

AT = "2026-01-01T00:00:00Z"
JOB: dict[str, Any] = {
    "metadata": {
        "labels": {WORKLOAD: str(uuid4())},
        "annotations": {RUN: "1"},
        "creationTimestamp": AT,
        "uid": "job",
    },
    "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 1}}},
}
RUNNING = {"name": "pytorch", "state": {"running": {"startedAt": AT}}, "ready": True}


def job(version: int) -> dict[str, Any]:
    made = deepcopy(JOB)
    made["metadata"]["resourceVersion"] = str(version)
    return made


def pod(version: int, *, runs: bool = False) -> dict[str, Any]:
    meta = {
        "name": "a-worker-0",
        "uid": "a-worker-0",
        "labels": {REPLICA_TYPE: "worker", REPLICA_INDEX: "0"},
        "creationTimestamp": AT,
        "resourceVersion": str(version),
    }
    status = {"phase": "Running", "containerStatuses": [RUNNING]} if runs else {}
    return {"metadata": meta, "spec": {"nodeName": "n1"}, "status": status}


def told(known: Known) -> Observation:
    assert known.observation
    return known.observation


def test_a_change_that_arrives_after_a_later_one_is_news() -> None:
    known = Known()
    known.take_job(PYTORCH, "ADDED", job(10))
    known.take_pod("ADDED", pod(11))
    known.take_job(PYTORCH, "MODIFIED", job(20))
    before = told(known)
    known.take_pod("MODIFIED", pod(19, runs=True))
    after = told(known)
    assert (before.phase, after.phase) == (Phase.INITIALIZING, Phase.RUNNING)
    assert after.sequence > before.sequence


def test_a_change_that_shows_nothing_new_is_not_told() -> None:
    known = Known()
    known.take_job(PYTORCH, "ADDED", job(10))
    known.take_pod("ADDED", pod(11))
    before = told(known)
    known.take_pod("MODIFIED", pod(12))
    assert not is_news(told(known), before)
    known.take_pod("MODIFIED", pod(13, runs=True))
    assert is_news(told(known), before)


def test_a_whole_list_is_later_than_any_part_of_it() -> None:
    """The next process lists what the last one had yet to hear."""
    last, following = Known(), Known()
    for known in (last, following):
        known.take_pod("ADDED", pod(11))
        known.take_job(PYTORCH, "ADDED", job(20))
    following.take_pod("ADDED", pod(19, runs=True))
    following.listed(20)
    assert told(following).sequence > told(last).sequence


def test_a_list_whose_job_is_newer_than_its_pods_leaves_room_for_them() -> None:
    known = Known()
    known.take_pod("ADDED", pod(11))
    known.take_job(PYTORCH, "ADDED", job(20))
    known.listed(15)
    before = told(known)
    known.take_pod("MODIFIED", pod(19, runs=True))
    assert told(known).sequence > before.sequence
