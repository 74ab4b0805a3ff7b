"""A job that belongs to Kueue: what its suspension means. Pure."""

from datetime import datetime
from typing import Any

import pytest

from engines.base import Manifest, Observation
from engines.kubernetes.jobs import PLAIN_JOB, PYTORCH, JobKind
from engines.kubernetes.labels import GAVE_UP, STOPPED_RUN
from engines.kubernetes.status.job import JobView
from spec.phases import TERMINAL, Phase, Reason
from tests.engines.kubernetes.kueue.queue_entries import (
    AT,
    DEACTIVATED,
    LATER,
    PREEMPTED,
    RESERVED,
    WAITS,
    admitted,
    condition,
    entry,
    evicted,
    job,
)
from tests.engines.kubernetes.objects import RUNNING, pod

BOTH_KINDS = pytest.mark.parametrize("kind", [PYTORCH, PLAIN_JOB], ids=["PyTorchJob", "Job"])
PREEMPTION = evicted("Preempted", PREEMPTED)


def seen(kind: JobKind, item: Manifest, *entries: Manifest, pods: Any = ()) -> Observation:
    view = JobView.from_objects(kind, item, pods, has_kueue=True, queue_entries=entries)
    return view.observation()


def running(kind: JobKind, **metadata: Any) -> Manifest:
    return pod(
        "worker",
        0,
        container=RUNNING | {"name": kind.container},
        metadata={"creationTimestamp": AT} | metadata,
    )


@BOTH_KINDS
def test_a_suspended_job_waits_for_kueue(kind: JobKind) -> None:
    observation = seen(kind, job(kind, suspend=True), entry(WAITS))
    assert (observation.phase, observation.reason) == (Phase.PENDING, Reason.WAITING_FOR_QUOTA)
    assert observation.message == "Queue team lacks quota for nvidia.com/gpu: 2 more needed"


@BOTH_KINDS
@pytest.mark.parametrize("queue", ["team", ""])
def test_a_job_waits_before_kueue_has_made_its_workload(kind: JobKind, queue: str) -> None:
    observation = seen(kind, job(kind, suspend=True, queue=queue))
    assert observation.phase is Phase.PENDING
    assert observation.message == "Waiting for Kueue to take up the job"


@BOTH_KINDS
def test_a_job_that_ran_and_is_suspended_without_kueue_is_stopped(kind: JobKind) -> None:
    conditions = [condition("Suspended", true=True), condition("Running", true=False)]
    status = {"startTime": AT, "conditions": conditions}
    assert seen(kind, job(kind, suspend=True, queue="", status=status)).phase is Phase.STOPPED


@BOTH_KINDS
def test_a_job_that_trainyard_suspended_is_stopped(kind: JobKind) -> None:
    """It names a queue, but Kueue does not manage its kind."""
    conditions = [condition("Suspended", true=True)]
    marked = job(
        kind, suspend=True, annotations={STOPPED_RUN: "1"}, status={"conditions": conditions}
    )
    assert seen(kind, marked).phase is Phase.STOPPED
    marked["metadata"]["annotations"][STOPPED_RUN] = "0"  # the run before
    assert seen(kind, marked).phase is Phase.PENDING


@BOTH_KINDS
def test_an_eviction_is_a_wait_while_its_pods_still_end(kind: JobKind) -> None:
    ending = running(kind, deletionTimestamp=LATER)
    for suspend in (False, True):
        observation = seen(kind, job(kind, suspend=suspend), admitted(PREEMPTION), pods=[ending])
        assert (observation.phase, observation.reason) == (Phase.PENDING, Reason.PREEMPTED)
        assert "higher priority" in observation.message
        assert observation.starts_over


@BOTH_KINDS
def test_an_admitted_job_is_what_its_pods_are(kind: JobKind) -> None:
    item = job(kind, suspend=False)
    assert seen(kind, item, admitted(), pods=[running(kind)]).phase is Phase.RUNNING
    waiting = seen(kind, item, admitted())
    assert (waiting.phase, waiting.starts_over) == (Phase.PENDING, False)


@BOTH_KINDS
def test_a_gang_starts_over_until_a_rank_of_the_next_attempt_runs(kind: JobKind) -> None:
    before = condition("Evicted", true=False, message=f"Previously: {PREEMPTED}")
    again = admitted(before)
    again["status"]["conditions"][1] = again["status"]["conditions"][1] | {
        "lastTransitionTime": LATER
    }
    item = job(kind, suspend=False)
    ending = running(kind, deletionTimestamp=LATER)
    assert seen(kind, item, again, pods=[ending]).starts_over
    restarted = running(kind, creationTimestamp=LATER)
    assert not seen(kind, item, again, pods=[restarted]).starts_over


@BOTH_KINDS
def test_a_deactivated_job_is_stopped_once_its_pods_and_quota_are_gone(kind: JobKind) -> None:
    item = job(kind, suspend=True)
    ending = running(kind, deletionTimestamp=LATER)
    counted = entry(RESERVED, DEACTIVATED, active=False)
    freed = entry(DEACTIVATED, active=False)
    assert seen(kind, item, counted, pods=[ending]).phase is Phase.STOPPING
    waiting = seen(kind, item, counted)
    assert waiting.phase is Phase.STOPPING
    assert waiting.cause
    assert "still counts its quota" in waiting.cause.title
    stopped = seen(kind, item, freed)
    assert (stopped.phase, stopped.message) == (Phase.STOPPED, "")


@BOTH_KINDS
@pytest.mark.parametrize(
    ("because", "reason"),
    [
        ("exceeding the maximum number of re-queuing retries", Reason.REFUSED),
        ("exceeding the maximum execution time", Reason.DEADLINE_EXCEEDED),
    ],
)
def test_a_job_that_kueue_gives_up_says_why(kind: JobKind, because: str, reason: Reason) -> None:
    text = f"The workload is deactivated due to {because}"
    given_up = entry(evicted("Deactivated", text), active=False)
    observation = seen(kind, job(kind, suspend=True), given_up)
    assert (observation.phase, observation.reason) == (Phase.STOPPED, reason)
    assert observation.message == f"Kueue stopped it: {text}."


@BOTH_KINDS
def test_a_job_that_kueue_cannot_start_failed(kind: JobKind) -> None:
    ended = entry(condition("Finished", true=True, reason="FailedToStart", message="No match"))
    observation = seen(kind, job(kind, suspend=True), ended)
    assert (observation.phase, observation.message) == (Phase.FAILED, "No match")


@BOTH_KINDS
@pytest.mark.parametrize("reason", ["Succeeded", "Failed"])
def test_the_end_of_a_job_is_its_own_and_not_what_kueue_says(kind: JobKind, reason: str) -> None:
    """Kueue's Workload may be seen to be finished before the job is."""
    ended = admitted(condition("Finished", true=True, reason=reason, message="It has ended"))
    observation = seen(kind, job(kind, suspend=False), ended, pods=[running(kind)])
    assert observation.phase not in TERMINAL


@BOTH_KINDS
def test_a_job_whose_data_cannot_be_fetched_failed(kind: JobKind) -> None:
    item = job(kind, suspend=False, annotations={GAVE_UP: "no data"})
    assert seen(kind, item, admitted()).phase is Phase.PENDING
    stopped = entry(RESERVED, DEACTIVATED, active=False)
    for pods in ([], [running(kind)]):
        observation = seen(kind, item, stopped, pods=pods)
        assert (observation.phase, observation.message) == (Phase.FAILED, "no data")


@BOTH_KINDS
def test_a_job_completes_whatever_its_queue_says(kind: JobKind) -> None:
    status = {"conditions": [condition("Complete", true=True)]}
    item = job(kind, suspend=True, status=status)
    assert seen(kind, item, entry(WAITS)).phase is Phase.COMPLETED


def test_a_change_of_kueue_is_later_than_what_was_seen_before() -> None:
    item = job(suspend=True)
    before = seen(PYTORCH, item, entry(WAITS, version=30))
    after = seen(PYTORCH, item, entry(WAITS, version=31))
    assert after.sequence > before.sequence
    assert after.at == datetime.fromisoformat(AT)


def test_the_workload_of_an_earlier_job_says_nothing() -> None:
    old = entry(DEACTIVATED, active=False, job="before")
    observation = seen(PYTORCH, job(suspend=True), old, entry(WAITS))
    assert observation.phase is Phase.PENDING


def test_a_gated_pod_says_what_kueue_says_about_it() -> None:
    """Kueue may manage pods, and not the job."""
    gate = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
    spec = {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}
    gated = pod("worker", 0, phase="Pending", container={}, spec=spec)
    gated["status"] = {"phase": "Pending", "conditions": [gate]}
    item = job(suspend=False, queue="")
    hidden = seen(PYTORCH, item, pods=[gated])
    assert hidden.reason is Reason.WAITING_FOR_QUOTA
    assert hidden.message.endswith("Kueue has not admitted the pod to a queue yet")
    told = seen(PYTORCH, item, entry(WAITS, job="worker-0"), pods=[gated])
    assert told.message.endswith("Queue team lacks quota for nvidia.com/gpu: 2 more needed")


def failed_job(*, failed_at: str) -> Manifest:
    """Return a PyTorchJob that Kueue resumed at ``LATER`` after an eviction, and that failed."""
    resumed = condition("Suspended", true=False, reason="PyTorchJobResumed")
    failed = condition("Failed", true=True, message="failed because 1 Worker replica(s) failed.")
    resumed["lastTransitionTime"] = LATER
    failed["lastTransitionTime"] = failed_at
    return job(suspend=False, status={"conditions": [resumed, failed]})


def test_a_job_that_was_resumed_while_its_pods_ended_starts_over() -> None:
    """The training operator counts the ending pods as failed."""
    before = condition("Evicted", true=False, message=f"Previously: {PREEMPTED}")
    again = admitted(before, condition("Finished", true=True, reason="Failed"))
    item = failed_job(failed_at=LATER)
    ending = running(PYTORCH, deletionTimestamp=LATER)
    over = seen(PYTORCH, item, again, pods=[ending])
    assert (over.phase, over.reason, over.starts_over) == (Phase.STOPPED, Reason.PREEMPTED, True)
    assert "before its pods had ended" in over.message


@pytest.mark.parametrize("case", ["later", "new pod", "never evicted"])
def test_a_job_that_failed_by_itself_failed(case: str) -> None:
    before = condition("Evicted", true=case == "never evicted", message=f"Previously: {PREEMPTED}")
    again = admitted(before, condition("Finished", true=True, reason="Failed"))
    item = failed_job(failed_at="2026-01-01T00:02:00Z" if case == "later" else LATER)
    pods = [running(PYTORCH, creationTimestamp=LATER)] if case == "new pod" else []
    assert seen(PYTORCH, item, again, pods=pods).phase is Phase.FAILED
