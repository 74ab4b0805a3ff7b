"""Pods that the cluster does not make, and why. Pure."""

from typing import Any

import pytest

from engines.kubernetes.status.causes.refused import creation_failure
from spec.phases import Phase, Reason
from spec.problems.causes import CauseKind
from tests.engines.kubernetes.objects import MASTER, QUOTA, START, pod
from tests.engines.kubernetes.objects import event as told
from tests.engines.kubernetes.objects import look as looked
from tests.engines.kubernetes.preemptions import at, look


def event(reason: str, message: str) -> dict[str, Any]:
    return {"reason": reason, "message": message, "type": "Warning"}


def test_a_used_up_quota_is_named_with_its_numbers() -> None:
    cause = creation_failure([event("FailedCreatePod", QUOTA)])
    assert cause
    assert cause.reason is Reason.WAITING_FOR_QUOTA
    assert cause.title == "The namespace's ResourceQuota team is used up"
    assert "requests.nvidia.com/gpu=8" in cause.todo


def test_pods_that_are_refused_are_told_in_the_servers_words() -> None:
    cause = creation_failure([event("FailedCreate", "pods is forbidden: no host network")])
    assert cause
    assert (cause.kind, cause.said) == (CauseKind.REFUSED, "pods is forbidden: no host network")
    assert creation_failure([event("BackOff", "again")]) is None


@pytest.mark.parametrize(
    "said",
    [
        'Error creating: No API token found for service account "default", retry after the token',
        'pods "demo-master-0" is forbidden: error looking up service account team/default: '
        'serviceaccount "default" not found',
    ],
)
def test_pods_that_come_before_the_service_account_are_not_called_refused(said: str) -> None:
    cause = creation_failure([event("FailedCreatePod", said)])
    assert cause
    assert (cause.reason, cause.title) == (
        Reason.NONE,
        "The namespace has no service account yet",
    )


def test_an_event_of_an_earlier_run_is_no_cause_of_this_one() -> None:
    refused = event("FailedCreatePod", "pods is forbidden: no host network") | {
        "involvedObject": {"uid": "job"},
        "lastTimestamp": at(10),
    }
    cause = look(events=[refused], resumed=10).cause
    assert cause
    assert cause.kind is CauseKind.REFUSED
    cause = look(events=[refused], resumed=30).cause
    assert cause
    assert cause.kind is CauseKind.OPERATOR


GONE = pod("worker", 0, metadata={"deletionTimestamp": START.isoformat()})


def refusal(second: float) -> dict[str, Any]:
    return told("FailedCreatePod", QUOTA, second=second)


def test_a_gang_that_lost_a_rank_says_why_it_is_missing() -> None:
    seen = looked(MASTER, GONE, events=[refusal(second=60)])
    assert (seen.phase, seen.reason) == (Phase.DEGRADED, Reason.WAITING_FOR_QUOTA)
    assert seen.cause
    assert seen.cause.title == (
        "Only 1 of 2 pods were created: the namespace's ResourceQuota team is used up"
    )
    assert "Stop the workload to release them" in seen.cause.todo
    assert seen.message == seen.cause.message


def test_pods_that_were_refused_and_made_since_explain_nothing() -> None:
    seen = looked(MASTER, GONE, events=[refusal(second=-5)])
    assert (seen.phase, seen.cause) == (Phase.DEGRADED, None)
    seen = looked(pod("master", 0, age=9), events=[refusal(second=5)])
    assert seen.cause is None


@pytest.mark.parametrize(
    ("amounts", "title"),
    [
        (
            "requested: pods=1, used: pods=1, limited: pods=1",
            "Only 1 of 2 pods were created: the namespace's ResourceQuota q allows pods=1, and its "
            "pods together request more",
        ),
        (
            "requested: requests.cpu=300m, used: requests.cpu=800m, limited: requests.cpu=1",
            "Only 1 of 2 pods were created: the namespace's ResourceQuota q is used up",
        ),
        (
            "requested: limits.memory=2Gi, used: limits.memory=4Gi, limited: limits.memory=5Gi",
            "Only 1 of 2 pods were created: the namespace's ResourceQuota q allows "
            "limits.memory=5Gi, and its pods together request more",
        ),
    ],
)
def test_a_quota_that_the_gang_alone_exceeds_is_not_waited_for(amounts: str, title: str) -> None:
    resources = {"requests": {"cpu": "500m"}, "limits": {"memory": "4Gi"}}
    containers = [{"name": "pytorch", "resources": resources}]
    master = pod("master", 0, spec={"nodeName": "n1", "containers": containers})
    said = f"pods is forbidden: exceeded quota: q, {amounts}"
    seen = looked(master, events=[told("FailedCreatePod", said, second=60)])
    assert seen.cause
    assert seen.cause.title == title
    assert (seen.reason is Reason.NEVER_FITS) == ("together" in title)
