"""Containers beside the program: those of a mesh, and sidecars that a cluster ends. Pure."""

from typing import Any

import pytest

from spec.phases import Phase, RankPhase
from tests.engines.kubernetes.objects import DONE, MASTER, RUNNING, WAITS, WORKER, ended, look, pod

SPEC = {
    "nodeName": "n1",
    "initContainers": [{"name": "istio-proxy", "restartPolicy": "Always"}],
    "containers": [{"name": "pytorch"}],
}


def worker(sidecar: dict[str, Any], container: dict[str, Any], phase: str) -> dict[str, Any]:
    status = {"initContainerStatuses": [{"name": "istio-proxy", "restartCount": 0, **sidecar}]}
    return pod("worker", 0, phase=phase, container=container, spec=SPEC, status=status)


@pytest.mark.parametrize("code", [137, 143, 1])
def test_a_sidecar_that_ends_after_the_program_is_no_failure(code: int) -> None:
    seen = look(MASTER, worker(ended(code, 9), DONE, "Succeeded"), true="Succeeded")
    rank = seen.ranks[1]
    assert (seen.phase, rank.phase, rank.message) == (
        Phase.COMPLETED,
        RankPhase.SUCCEEDED,
        "",
    )


def test_a_sidecar_that_fails_before_the_program_starts_holds_it_up() -> None:
    seen = look(MASTER, worker(ended(1, 9), WAITS, "Pending"))
    assert seen.cause
    assert seen.cause.title == "A rank did not start: istio-proxy exited with code 1"


def test_a_rank_whose_program_succeeded_is_done_despite_a_running_sidecar() -> None:
    containers = [{"name": "pytorch", **DONE}, {"name": "istio-proxy", **RUNNING}]
    seen = look(MASTER, pod("worker", 0, status={"containerStatuses": containers}))
    rank = seen.ranks[1]
    assert (rank.phase, rank.exit_code) == (RankPhase.SUCCEEDED, 0)
    assert "istio-proxy keeps its pod alive" in rank.message


def test_a_program_that_is_started_again_is_not_kept_alive_by_others() -> None:
    containers = [{"name": "pytorch", **ended(3, 9)}, {"name": "istio-proxy", **RUNNING}]
    status = {"containerStatuses": containers}
    again = pod("worker", 0, status=status, spec={"nodeName": "n1", "restartPolicy": "OnFailure"})
    for_good = pod("worker", 0, status=status, spec={"nodeName": "n1", "restartPolicy": "Never"})
    titles = [
        seen.cause and seen.cause.title for seen in (look(MASTER, again), look(MASTER, for_good))
    ]
    assert "keeps its pod alive" not in str(titles[0])
    assert "keeps its pod alive" in str(titles[1])


@pytest.mark.parametrize(("code", "phase"), [(0, RankPhase.SUCCEEDED), (3, RankPhase.FAILED)])
def test_a_rank_ends_with_its_program_although_a_native_sidecar_runs(
    code: int, phase: RankPhase
) -> None:
    ended_worker = worker(RUNNING, ended(code, 9), "Running")
    ended_worker["spec"] = SPEC | {"restartPolicy": "Never"}
    alone = look(ended_worker, pytorchReplicaSpecs={"Worker": {"replicas": 1}})
    assert (alone.phase, alone.ranks[0].phase) == (Phase.RUNNING, phase)
    assert alone.cause
    assert alone.cause.title == (
        "The program has ended, and the container istio-proxy keeps its pod alive"
    )


def test_an_ended_program_is_not_restarting_while_its_pod_ends() -> None:
    """The moment in which the container has ended, and the pod is not Succeeded yet."""
    ready = {"type": "Ready", "status": "False", "reason": "PodCompleted"}
    contained = {"type": "ContainersReady", "status": "False", "reason": "PodCompleted"}
    status = {"conditions": [ready, contained]}
    seen = look(pod("master", 0, container=DONE, status=status), WORKER)
    assert (seen.phase, seen.message, seen.cause) == (Phase.RUNNING, "", None)
    assert seen.ranks[0].phase is RankPhase.SUCCEEDED
