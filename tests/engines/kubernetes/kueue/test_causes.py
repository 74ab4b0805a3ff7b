"""Kueue's sentences, each as a cause. Texts of Kueue 0.17 on a real cluster."""

import pytest

from engines.base import Manifest
from engines.kubernetes.kueue.causes import eviction_message, waiting_cause
from engines.kubernetes.kueue.workload import QueuedJob
from spec.phases import Reason
from spec.problems.causes import Cause
from tests.engines.kubernetes.kueue.queue_entries import (
    LACKING,
    PREEMPTED,
    RESERVED,
    condition,
    entry,
    evicted,
)

EXCEEDING = (
    "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor "
    "default, previously considered podsets requests (0) + current podset request (4) > maximum "
    "capacity (2)"
)
OTHER_FLAVOR = (
    f"{EXCEEDING}, insufficient unused quota for nvidia.com/gpu in flavor spot, 1 more needed"
)


def waiting(said: str, reason: str = "Pending") -> Cause:
    return waiting_cause(
        QueuedJob(entry(condition("QuotaReserved", true=False, reason=reason, message=said)))
    )


@pytest.mark.parametrize(
    ("said", "title", "reason"),
    [
        (
            LACKING,
            "Queue team lacks quota for nvidia.com/gpu: 2 more needed",
            Reason.WAITING_FOR_QUOTA,
        ),
        (
            EXCEEDING,
            "More nvidia.com/gpu than queue team can ever give: 4 requested, 2 at most",
            Reason.NEVER_FITS,
        ),
        (
            EXCEEDING.replace("requests (0)", "requests (1)"),
            "More nvidia.com/gpu than queue team can ever give: 1 and 4 requested, 2 at most",
            Reason.NEVER_FITS,
        ),
        (
            OTHER_FLAVOR,
            "Queue team lacks quota for nvidia.com/gpu: 1 more needed",
            Reason.WAITING_FOR_QUOTA,
        ),
        (
            "couldn't assign flavors to pod set Worker: resource cpu unavailable in ClusterQueue",
            "Queue team has no quota for cpu",
            Reason.NEVER_FITS,
        ),
        ("LocalQueue nosuch doesn't exist", "There is no LocalQueue nosuch", Reason.REFUSED),
        ("ClusterQueue cq doesn't exist", "There is no ClusterQueue cq", Reason.REFUSED),
        ("ClusterQueue cq not found", "There is no ClusterQueue cq", Reason.REFUSED),
        ("ClusterQueue cq is inactive", "Kueue's ClusterQueue cq is inactive", None),
        ("LocalQueue team is inactive", "Kueue's LocalQueue team is inactive", None),
        ("LocalQueue team is stopped", "Kueue's LocalQueue team is stopped", None),
        ("ClusterQueue cq is stopped", "Kueue's ClusterQueue cq is stopped", None),
        (
            "LocalQueue team is terminating or missing",
            "There is no LocalQueue team",
            Reason.REFUSED,
        ),
        (
            f"{LACKING}. Pending the preemption of 1 workload(s)",
            "Kueue preempts a workload to make room for it",
            None,
        ),
        (
            "couldn't assign flavors to pod set main: untolerated taint {gpu true NoSchedule "
            "<nil>} in flavor spot",
            "No flavor of queue team suits its pods",
            Reason.NEVER_FITS,
        ),
        (
            "Workload namespace doesn't match ClusterQueue selector",
            "The ClusterQueue of queue team does not serve the project's namespace",
            Reason.REFUSED,
        ),
        ("Something that no rule knows", "It waits in Kueue's queue team", None),
        ("", "It waits in Kueue's queue team", None),
    ],
)
@pytest.mark.parametrize("kueue", ["0.17", "0.20"])
def test_a_sentence_of_kueue_has_its_cause(
    said: str, title: str, reason: Reason | None, kueue: str
) -> None:
    """From 0.20 on the same sentences have reasons of their own."""
    cause = waiting(said, "Pending" if kueue == "0.17" else "WaitingForQuota")
    assert (cause.title, cause.said) == (title, said)
    assert cause.reason is (reason or Reason.WAITING_FOR_QUOTA)


def test_a_job_without_a_queue_is_told_to_choose_one() -> None:
    cause = waiting_cause(QueuedJob(entry(queue="")))
    assert cause.title == "Kueue starts no job without a queue here, and this one names none"


def test_an_admission_check_that_has_not_agreed_is_named() -> None:
    checks = [
        {"name": "budget", "state": "Ready", "message": ""},
        {"name": "provisioning", "state": "Pending", "message": "Waiting for nodes"},
    ]
    cause = waiting_cause(QueuedJob(entry(RESERVED, admissionChecks=checks)))
    assert "provisioning" in cause.title
    assert cause.said == "Waiting for nodes"


@pytest.mark.parametrize(
    ("eviction", "message"),
    [
        (
            evicted("Preempted", PREEMPTED),
            "Kueue preempted it for a workload of higher priority in its ClusterQueue.",
        ),
        (
            evicted(
                "Preempted", PREEMPTED.replace("prioritization in the ClusterQueue", "UNKNOWN")
            ),
            "Kueue preempted it for another workload.",
        ),
        (
            evicted("ClusterQueueStopped", "The ClusterQueue is stopped"),
            "Kueue evicted it: its ClusterQueue was stopped.",
        ),
        (
            evicted("PodsReadyTimeout", "Exceeded the PodsReady timeout team-a/demo"),
            "Kueue evicted it: its pods were not ready in time.",
        ),
        (evicted("Novelty", "Something new."), "Kueue evicted it: Something new."),
    ],
)
def test_an_eviction_names_nobody_by_uid(eviction: Manifest, message: str) -> None:
    assert eviction_message(QueuedJob(entry(eviction))) == message


def test_a_requeued_job_says_until_when_it_waits() -> None:
    text = "Exceeded the PodsReady timeout team-a/demo"
    waits = condition("QuotaReserved", true=False, reason="Pending", message=text)
    state = {"count": 1, "requeueAt": "2026-01-01T00:05:00Z"}
    one = entry(evicted("PodsReadyTimeout", text), waits, requeueState=state)
    assert "2026-01-01T00:05:00Z" in waiting_cause(QueuedJob(one)).todo
