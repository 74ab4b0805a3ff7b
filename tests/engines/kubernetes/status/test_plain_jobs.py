"""A single pod as a Job of Kubernetes, at moments of its life. Pure."""

from typing import Any
from uuid import uuid4

import pytest

from engines.base import Observation
from engines.kubernetes.jobs import PLAIN_JOB, suspension
from engines.kubernetes.labels import RUN, WORKLOAD
from engines.kubernetes.manifests.refused_fields import spec_field
from engines.kubernetes.status.job import JobView
from engines.kubernetes.watch.snapshot import Snapshot
from spec.phases import Phase, RankPhase, Reason
from spec.problems.causes import CauseKind
from spec.workload import Role

AT = "2026-01-01T00:00:00Z"
LABELS = {WORKLOAD: str(uuid4())}
META = {"labels": LABELS, "creationTimestamp": AT, "uid": "job", "resourceVersion": "5"}


def job(*conditions: str, **spec: Any) -> dict[str, Any]:
    held = [{"type": kind, "status": "True", "lastTransitionTime": AT} for kind in conditions]
    spec = {"parallelism": 1, "completions": 1, "backoffLimit": 0} | spec
    return {
        "metadata": META | {"annotations": {RUN: "2"}},
        "spec": spec,
        "status": {"conditions": held} if held else {},
    }


def pod(phase: str, **state: Any) -> dict[str, Any]:
    container = {"name": "main", "state": state, "ready": "running" in state}
    return {
        "metadata": META | {"name": "alone-x7k2p", "uid": "pod"},
        "spec": {"nodeName": "n1"},
        "status": {"phase": phase, "containerStatuses": [container]},
    }


def owned(by: str, phase: str) -> dict[str, Any]:
    made = pod(phase)
    made["metadata"]["ownerReferences"] = [{"uid": by}]
    return made


RUNS = pod("Running", running={"startedAt": AT})
FAILED = pod("Failed", terminated={"exitCode": 3, "startedAt": AT, "finishedAt": AT})


def seen(made: dict[str, Any], *pods: dict[str, Any]) -> Observation:
    return JobView.from_objects(PLAIN_JOB, made, pods).observation()


@pytest.mark.parametrize(
    ("made", "pods", "phase"),
    [
        (job(), [RUNS], Phase.RUNNING),
        (job("Complete"), [pod("Succeeded")], Phase.COMPLETED),
        (job("Failed"), [FAILED], Phase.FAILED),
        (job("Suspended", suspend=True), [], Phase.STOPPED),
        (job(suspend=True), [RUNS], Phase.STOPPING),
        # Its program saved what it had, and ended well.
        (job("Complete", suspend=True), [pod("Succeeded")], Phase.STOPPED),
        (job("Failed", suspend=True), [FAILED], Phase.STOPPED),
        (job(), [owned("before", "Succeeded")], Phase.PENDING),
    ],
)
def test_the_phase_is_read_from_the_words_of_kubernetes(
    made: dict[str, Any], pods: list[dict[str, Any]], phase: Phase
) -> None:
    observation = seen(made, *pods)
    assert (observation.phase, observation.run) == (phase, 2)
    (rank,) = observation.ranks
    assert (rank.role, rank.index) == (Role.WORKER, 0)


@pytest.mark.parametrize("index", ["7", "seven"])
def test_a_label_that_looks_like_an_operators_says_nothing_of_its_rank(index: str) -> None:
    labelled = pod("Running", running={"startedAt": AT})
    labels = {"training.kubeflow.org/replica-index": index}
    labelled["metadata"] = labelled["metadata"] | {"labels": LABELS | labels}
    (rank,) = seen(job(), labelled).ranks
    assert (rank.role, rank.index) == (Role.WORKER, 0)


def test_the_rank_that_failed_is_named_with_its_exit_code() -> None:
    observation = seen(job("Failed"), FAILED)
    assert observation.message == "worker-0 (rank 0) exited with code 3."
    assert observation.ranks[0].phase is RankPhase.FAILED


def tries(*codes: int) -> list[dict[str, Any]]:
    """Return the pods of tries that ended with these exit codes, one after the other."""
    pods = []
    for number, code in enumerate(codes):
        end = {"exitCode": code, "finishedAt": f"2026-01-01T00:0{number}:30Z"}
        one = pod("Failed" if code else "Succeeded", terminated=end)
        made = f"2026-01-01T00:0{number}:00Z"
        one["metadata"] |= {"uid": f"pod-{number}", "creationTimestamp": made}
        one["metadata"]["name"] = f"alone-{number}"
        pods.append(one)
    return pods


def test_a_job_with_tries_left_starts_its_rank_again() -> None:
    observation = seen(job(backoffLimit=2), *tries(3, 4))
    assert (observation.phase, observation.reason) == (Phase.INITIALIZING, Reason.RESTARTING)
    assert observation.message == "worker-0 (rank 0): exited with code 4"
    assert observation.cause
    assert observation.cause.title == "The program failed and is waiting to be restarted"
    assert (observation.ranks[0].restarts, observation.attempt) == (1, 1)
    running = RUNS | {"metadata": RUNS["metadata"] | {"creationTimestamp": "2026-01-01T00:09:00Z"}}
    again = seen(job(backoffLimit=2), *tries(3, 4), running)
    assert (again.phase, again.ranks[0].restarts, again.attempt) == (Phase.RUNNING, 2, 2)


def test_a_job_without_tries_left_ends_with_its_last_failure() -> None:
    last = tries(3, 4, 5)
    assert seen(job(backoffLimit=2), *last).phase is Phase.RUNNING, "until the cluster says so"
    observation = seen(job("Failed", backoffLimit=2), *last)
    assert observation.message == "worker-0 (rank 0) exited with code 5."
    assert observation.ranks[0].restarts == 2


def test_a_try_that_was_evicted_does_not_count() -> None:
    failed, evicted = tries(3, 137)
    disruption = {"type": "DisruptionTarget", "status": "True", "message": "Eviction API: evicting"}
    evicted["status"]["conditions"] = [disruption]
    observation = seen(job(backoffLimit=1), failed, evicted)
    assert (observation.phase, observation.attempt) == (Phase.PENDING, 1)
    assert observation.message == "worker-0 (rank 0) was evicted: Eviction API: evicting."
    assert observation.cause
    assert observation.cause.kind is CauseKind.OTHER, "the cluster works as it should"


def test_without_a_pod_nobody_is_told_of_an_operator() -> None:
    cause = seen(job()).cause
    assert cause
    assert cause.title == "Waiting for the cluster to create the pod"


def test_a_job_that_was_told_to_rest_is_over() -> None:
    snapshot = Snapshot()
    snapshot.take_job(PLAIN_JOB, "ADDED", job(**suspension(PLAIN_JOB)))
    assert snapshot.is_over


@pytest.mark.parametrize(
    ("named", "field"),
    [
        ("spec.template.spec.containers[0].image", "worker.image"),
        ("spec.template.spec.tolerations[0].key", "worker.tolerations"),
        ("spec.template.spec.somethingElse", "worker"),
        ("spec.backoffLimit", "backoffLimit"),
        ("spec.selector", ""),
    ],
)
def test_a_refused_field_is_named_as_the_spec_has_it(named: str, field: str) -> None:
    assert spec_field(PLAIN_JOB, named, "", own_master=False) == field
