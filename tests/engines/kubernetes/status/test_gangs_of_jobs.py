"""A gang that runs without an operator, at moments of its life. Pure."""

from typing import Any
from uuid import uuid4

import pytest

from engines.base import Observation
from engines.kubernetes.jobs import PLAIN_JOB
from engines.kubernetes.labels import COMPLETION_INDEX, GAVE_UP, LEAD_ONLY, RANK, ROLES, WORKLOAD
from engines.kubernetes.status.job import JobView
from spec.phases import Phase, RankPhase, Reason

AT = "2026-01-01T00:00:00Z"
LABELS = {WORKLOAD: str(uuid4())}
ENDS = {"Succeeded": 0, "Failed": 3}


def job(
    uid: str,
    *conditions: str,
    notes: dict[str, str] | None = None,
    rank: int | None = None,
    suspend: bool = False,
) -> dict[str, Any]:
    """Return a Job: of all ranks, or of one. All but ``lead`` are followers."""
    held = [{"type": it, "status": "True", "lastTransitionTime": AT} for it in conditions]
    labels = LABELS | ({} if rank is None else {RANK: str(rank)})
    meta = {"name": uid, "uid": uid, "labels": labels, "annotations": notes or {}}
    owner: dict[str, Any] = {} if uid == "lead" else {"ownerReferences": [{"uid": "lead"}]}
    return {
        "metadata": meta | owner | {"creationTimestamp": AT, "resourceVersion": "5"},
        "spec": {"backoffLimit": 0, "suspend": suspend},
        "status": {"conditions": held},
    }


def pod(name: str, phase: str, *, owner: str = "lead", **labels: str) -> dict[str, Any]:
    state: dict[str, Any] = {"running": {"startedAt": AT}}
    if phase in ENDS:
        state = {"terminated": {"exitCode": ENDS[phase], "startedAt": AT, "finishedAt": AT}}
    container = {"name": "main", "state": state, "ready": "running" in state}
    meta: dict[str, Any] = {"name": name, "uid": name, "labels": LABELS | labels}
    meta |= {"creationTimestamp": AT, "resourceVersion": "6", "ownerReferences": [{"uid": owner}]}
    return {
        "metadata": meta,
        "spec": {"nodeName": "n1", "restartPolicy": "Never"},
        "status": {"phase": phase, "containerStatuses": [container]},
    }


def indexed(index: int, phase: str) -> dict[str, Any]:
    return pod(f"demo-{index}", phase, **{COMPLETION_INDEX: str(index)})


def ranked(rank: int, phase: str, owner: str) -> dict[str, Any]:
    return pod(f"rank-{rank}", phase, owner=owner, **{RANK: str(rank)})


EQUAL = {ROLES: "master=1 worker=2"}
NAMED = {ROLES: "client=1 server=1"}
LEAD_ALONE = NAMED | {LEAD_ONLY: "true"}
GIVEN_UP = NAMED | {GAVE_UP: "client-0 failed."}
CLIENT = ranked(0, "Running", "client")
SERVER = ranked(1, "Running", "lead")


def of_equal_pods(made: dict[str, Any], *phases: str) -> Observation:
    pods = [indexed(index, phase) for index, phase in enumerate(phases)]
    return JobView.from_objects(PLAIN_JOB, made, pods).observation()


def of_roles(lead: dict[str, Any], client: dict[str, Any], *pods: dict[str, Any]) -> Observation:
    return JobView.from_objects(PLAIN_JOB, lead, pods, followers=[client]).observation()


def test_the_indexes_of_equal_pods_are_the_ranks() -> None:
    seen = of_equal_pods(job("lead", notes=EQUAL), "Running", "Running", "Running")
    assert seen.phase is Phase.RUNNING
    named = [(rank.role, rank.index) for rank in seen.ranks]
    assert named == [("master", 0), ("worker", 0), ("worker", 1)]


def test_a_gang_is_complete_once_the_cluster_says_that_its_master_decides() -> None:
    seen = of_equal_pods(job("lead", "SuccessCriteriaMet", notes=EQUAL), "Succeeded", "Running")
    assert seen.phase is Phase.COMPLETED
    phases = [rank.phase for rank in seen.ranks]
    assert phases == [RankPhase.SUCCEEDED, RankPhase.STOPPED, RankPhase.STOPPED]


def test_the_rank_that_failed_is_named_by_its_role() -> None:
    seen = of_equal_pods(job("lead", "Failed", notes=EQUAL), "Running", "Failed")
    assert (seen.phase, seen.message) == (
        Phase.FAILED,
        "worker-0 (rank 1) exited with code 3.",
    )


def test_tries_of_other_ranks_are_no_restarts_of_this_one() -> None:
    again = indexed(1, "Running")
    again["metadata"] |= {"name": "second", "uid": "second"}
    again["metadata"]["creationTimestamp"] = "2026-01-01T00:01:00Z"
    limited = job("lead", notes=EQUAL)
    limited["spec"]["backoffLimit"] = 2
    pods = [indexed(0, "Running"), indexed(1, "Failed"), again]
    seen = JobView.from_objects(PLAIN_JOB, limited, pods).observation()
    assert [rank.restarts for rank in seen.ranks] == [0, 1, 0]


@pytest.mark.parametrize(
    ("lead", "client", "phase"),
    [
        (job("lead", rank=1, notes=NAMED), job("client", rank=0), Phase.RUNNING),
        (job("lead", "Complete", rank=1, notes=NAMED), job("client", rank=0), Phase.COMPLETED),
        (job("lead", rank=1, notes=NAMED), job("client", "Failed", rank=0), Phase.FAILED),
        (
            job("lead", rank=1, notes=LEAD_ALONE),
            job("client", "Failed", rank=0),
            Phase.RUNNING,
        ),
        (
            job("lead", rank=1, suspend=True, notes=NAMED),
            job("client", "Failed", rank=0),
            Phase.STOPPING,
        ),
        (
            job("lead", rank=1, suspend=True, notes=GIVEN_UP),
            job("client", "Failed", rank=0),
            Phase.FAILED,
        ),
    ],
)
def test_the_lead_decides_unless_another_rank_fails_first(
    lead: dict[str, Any], client: dict[str, Any], phase: Phase
) -> None:
    assert of_roles(lead, client, CLIENT, SERVER).phase is phase


def test_a_failed_rank_that_is_ignored_is_shown() -> None:
    lead = job("lead", rank=1, notes=LEAD_ALONE)
    failed = ranked(0, "Failed", "client")
    seen = of_roles(lead, job("client", "Failed", rank=0), failed, SERVER)
    assert (seen.phase, seen.reason) == (Phase.DEGRADED, Reason.RANK_FAILED)
    done = job("lead", "Complete", rank=1, notes=LEAD_ALONE)
    assert of_roles(done, job("client", "Failed", rank=0), failed).phase is Phase.COMPLETED


def test_the_end_of_a_lead_is_its_own_not_that_of_a_rank_that_is_ignored() -> None:
    lead = job("lead", "Failed", rank=1, notes=LEAD_ALONE)
    failed = [ranked(0, "Failed", "client"), ranked(1, "Failed", "lead")]
    seen = of_roles(lead, job("client", "Failed", rank=0), *failed)
    assert seen.message == "server-0 (rank 1) exited with code 3."


def test_pods_of_a_gang_before_are_nobodys() -> None:
    stray = ranked(0, "Running", "client-of-before")
    seen = of_roles(job("lead", rank=1, notes=NAMED), job("client", rank=0), stray, SERVER)
    assert seen.ranks[0].phase is RankPhase.PENDING
