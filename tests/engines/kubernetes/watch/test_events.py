"""What a cluster says of jobs and their pods is heard, in whatever order it comes. No cluster."""

from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

import pytest

from engines.kubernetes.client.api import Api
from engines.kubernetes.labels import WORKLOAD
from engines.kubernetes.status.events import QUIET
from engines.kubernetes.watch.watcher import EVENT, POD, Watcher
from spec.problems.causes import CauseKind
from tests.engines.kubernetes.objects import QUOTA
from tests.engines.kubernetes.versions import JOBS, UID, job, pod


def event(kind: str, reason: str, *, warns: bool = True, **also: Any) -> dict[str, Any]:
    named = {"Pod": "a-worker-0", "PyTorchJob": "job"}.get(kind, "other")
    return {
        "metadata": {"uid": f"{reason} {named}", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "involvedObject": {"kind": kind, "name": named, "uid": named},
        "type": "Warning" if warns else "Normal",
        "reason": reason,
        "message": f"{reason} 5 times",
    } | also


@pytest.fixture
def watcher() -> Watcher:
    made = Watcher(cast(Api, None), lambda uid, known: None)
    made.take_change(JOBS, "ADDED", job(10))
    return made


def its_pod() -> dict[str, Any]:
    made = pod(11)
    made["metadata"]["labels"][WORKLOAD] = str(UID)
    return made


def heard(watcher: Watcher) -> list[tuple[UUID, str, str]]:
    return [(one.workload_id, one.about, one.reason) for one in watcher.events]


def test_events_of_job_and_pods_belong_to_the_workload(watcher: Watcher) -> None:
    watcher.take_change(EVENT, "ADDED", event("Pod", "BackOff"))
    watcher.take_change(EVENT, "ADDED", event("PyTorchJob", "FailedCreatePod"))
    assert heard(watcher) == [(UID, "PyTorchJob job", "FailedCreatePod")]
    watcher.take_change(POD, "ADDED", its_pod())
    assert heard(watcher)[1:] == [(UID, "Pod a-worker-0", "BackOff")], "said before it was seen"


def test_a_warning_is_evidence_of_what_it_waits_for(watcher: Watcher) -> None:
    watcher.take_change(EVENT, "ADDED", event("PyTorchJob", "FailedCreatePod", message=QUOTA))
    seen = watcher.snapshots[UID].observation
    assert seen
    assert seen.cause
    assert (seen.cause.kind, seen.cause.said) == (CauseKind.QUOTA, QUOTA)


def test_everyday_events_and_those_of_others_are_not(watcher: Watcher) -> None:
    watcher.take_change(EVENT, "ADDED", event("Service", "FailedCreate"))
    watcher.take_change(EVENT, "ADDED", event("PyTorchJob", "SuccessfulCreatePod", warns=False))
    watcher.take_change(EVENT, "DELETED", event("PyTorchJob", "FailedCreatePod"))
    assert not watcher.events
    watcher.take_change(EVENT, "ADDED", event("PyTorchJob", "Pulling", warns=False))
    assert heard(watcher) == [(UID, "PyTorchJob job", "Pulling")]


RACE = (
    'Operation cannot be fulfilled on podgroups.scheduling.run.ai "pg-1": the object has been '
    "modified; please apply your changes to the latest version and try again"
)


@pytest.mark.parametrize(
    "said",
    [RACE, 'podgroups.scheduling.run.ai "pg-1" already exists', 'Pod "a-worker-0" not found'],
)
def test_a_race_that_a_controller_lost_is_not_told(watcher: Watcher, said: str) -> None:
    watcher.take_change(EVENT, "ADDED", event("PyTorchJob", "PodGrouperWarning", message=said))
    assert not watcher.events
    failed = "failed to create the pod group"
    watcher.take_change(EVENT, "ADDED", event("PyTorchJob", "PodGrouperWarning", message=failed))
    assert heard(watcher) == [(UID, "PyTorchJob job", "PodGrouperWarning")]


def test_a_known_preempting_pod_of_the_project_is_named(watcher: Watcher) -> None:
    known = "473f17fd-ee2d-4b42-bf02-82a2bb1fe725"
    other = known.replace("4", "5")
    by = its_pod()
    by["metadata"] |= {"uid": known, "name": "urgent-worker-0", "namespace": "team-a"}
    watcher.take_change(POD, "ADDED", its_pod())
    watcher.take_change(POD, "ADDED", by)
    about = {"kind": "Pod", "name": "a-worker-0", "uid": "a-worker-0", "namespace": "team-a"}
    for uid in (known, other):
        told = {"involvedObject": about, "message": f"Preempted by pod {uid} on node n1"}
        watcher.take_change(EVENT, "ADDED", event("Pod", "Preempted", warns=False, **told))
    assert [one.message for one in watcher.events] == [
        "Preempted by team-a/urgent-worker-0 on node n1",
        "Preempted by a pod of higher priority on node n1",
    ]


@pytest.mark.parametrize(
    ("also", "minute", "count"),
    [
        ({"lastTimestamp": "2026-01-01T00:01:00Z", "count": 3}, 1, 3),
        ({"eventTime": "2026-01-01T00:02:00.5Z"}, 2, 1),
        ({"series": {"lastObservedTime": "2026-01-01T00:03:00.5Z", "count": 4}}, 3, 4),
        ({}, 0, 1),
    ],
)
def test_old_and_new_writers_of_events_are_understood(
    watcher: Watcher, also: dict[str, Any], minute: int, count: int
) -> None:
    watcher.take_change(EVENT, "ADDED", event("PyTorchJob", "FailedCreatePod", **also))
    (one,) = watcher.events
    assert one.at.replace(microsecond=0) == datetime(2026, 1, 1, 0, minute, tzinfo=UTC)
    assert one.count == count


def test_an_event_repeated_with_other_numbers_is_a_single_line(watcher: Watcher) -> None:
    for times, container in ((5, "0a" * 32), (6, "f1" * 32)):
        told: dict[str, Any] = {"message": f"Back-off {times}m restarting {container}"}
        watcher.take_change(EVENT, "MODIFIED", event("PyTorchJob", "BackOff", **told))
    assert len({one.key for one in watcher.events}) == 1


@pytest.mark.parametrize("reason", QUIET)
def test_events_that_the_server_leaves_out_tell_nothing(watcher: Watcher, reason: str) -> None:
    assert watcher.take_change(EVENT, "ADDED", event("PyTorchJob", reason, warns=False)) is None
    assert not watcher.events
    assert f"reason!={reason}" in EVENT.query["fieldSelector"].split(",")
