"""How runs end on a real cluster: by their programs, or because their pods are taken away."""

import shlex
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from engines.base import ClusterEvent, Handle, Launch, Manifest, Observation
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.labels import WORKLOAD
from engines.kubernetes.manifests.job import manifests
from engines.kubernetes.watch.watcher import PODS
from spec.formats import documents
from spec.phases import ENDED, Phase, RankPhase, Reason
from tests.cluster import SHELL_IMAGE
from tests.engines.kubernetes.conftest import PREFIX, KubernetesRig
from tests.engines.kubernetes.reading_watch import changes
from tests.engines.reading import listed

pytestmark = pytest.mark.kubernetes
#: A program that saves what it has, and ends well, when it gets SIGTERM.
SAVES = "trap 'sleep 1; exit 0' TERM; echo ready; sleep 600 & wait"


def training(script: str, **whole: Any) -> Launch:
    """Return a launch of one pod, which is a Job."""
    worker = {"image": SHELL_IMAGE, "command": f"/bin/sh -c {shlex.quote(script)}"}
    once = {"backoffLimit": 0, "terminationGracePeriodSeconds": 20}
    spec = documents.load_spec({"kind": "training", "worker": worker, **once, **whole})
    return Launch(Handle(uuid4(), "alone", "team-a"), 1, spec)


def gang(script: str, **whole: Any) -> Launch:
    """Return a launch of two ranks, which is a PyTorchJob."""
    alone = {"kind": "distributed", "distributedFramework": "PyTorch", "numWorkers": 1}
    return training(script, **alone, **whole)


def pods_of(rig: KubernetesRig, launched: Launch) -> list[Manifest]:
    uid = str(launched.handle.workload_id)
    return list(rig.api.items(PODS, labelSelector=f"{WORKLOAD}={uid}"))


def evict(rig: KubernetesRig, pod: Manifest) -> None:
    """Evict a pod as `kubectl drain` does."""
    meta = pod["metadata"]
    about = {"name": meta["name"], "namespace": meta["namespace"]}
    path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/eviction"
    rig.api.create(path, {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": about})


def delete(rig: KubernetesRig, pod: Manifest) -> None:
    meta = pod["metadata"]
    rig.api.delete(f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}")


def until(told: Iterator[Observation], *phases: Phase) -> list[Observation]:
    """Return the observations up to the first in one of the phases."""
    found = []
    for seen in told:
        found.append(seen)
        if seen.phase in phases:
            break
    return found


def phases_after_start(told: Iterator[Observation]) -> list[Phase | None]:
    """Return the phases from the moment in which all ranks run to the end."""
    until(told, Phase.RUNNING)
    return [seen.phase for seen in until(told, *ENDED)]


@pytest.mark.parametrize("launch", [training, gang])
def test_an_ordinary_end_shows_nothing_between_running_and_completed(
    rig: KubernetesRig, launch: Callable[[str], Launch]
) -> None:
    with closing(rig.engine.watch()) as watch:
        listed(watch)
        launched = rig.submit(launch("sleep 2"))
        seen = phases_after_start(changes(watch, launched))
    assert set(seen) == {Phase.RUNNING, Phase.COMPLETED} or seen == [Phase.COMPLETED]


@pytest.mark.parametrize(
    ("code", "rank", "end"),
    [(0, RankPhase.SUCCEEDED, Phase.COMPLETED), (3, RankPhase.FAILED, Phase.FAILED)],
)
def test_a_native_sidecar_does_not_hold_up_the_end_of_its_rank(
    rig: KubernetesRig, code: int, rank: RankPhase, end: Phase
) -> None:
    launched = training(f"sleep 2; exit {code}")
    *_, job = manifests(launched, prefix=PREFIX)
    stubborn = ["/bin/sh", "-c", "trap '' TERM; sleep 600 & while :; do wait; done"]
    sidecar = {"name": "mesh", "image": SHELL_IMAGE, "restartPolicy": "Always", "command": stubborn}
    pod = job["spec"]["template"]["spec"]
    pod |= {"initContainers": [sidecar], "terminationGracePeriodSeconds": 4}
    rig.submit(training("true"))  # makes the namespace
    with closing(rig.engine.watch()) as watch:
        listed(watch)
        rig.api.create(f"/apis/batch/v1/namespaces/{job['metadata']['namespace']}/jobs", job)
        told = changes(watch, launched)
        until(told, Phase.RUNNING)
        seen = until(told, *ENDED)
    kept = [one for one in seen if one.cause]
    assert {one.phase for one in seen} == {Phase.RUNNING, end}
    assert "mesh keeps its pod alive" in kept[0].cause.title  # type: ignore[union-attr]
    assert [one.ranks[0].phase for one in kept] == [rank] * len(kept)


@pytest.mark.parametrize("launch", [training, gang])
@pytest.mark.parametrize("remove", [evict, delete])
def test_a_program_that_answers_its_removal_with_0_has_not_completed(
    rig: KubernetesRig,
    launch: Callable[[str], Launch],
    remove: Callable[[KubernetesRig, Manifest], None],
) -> None:
    with closing(rig.engine.watch()) as watch:
        listed(watch)
        launched = rig.submit(launch(SAVES))
        told = changes(watch, launched)
        until(told, Phase.RUNNING)
        pods = sorted(pods_of(rig, launched), key=lambda pod: pod["metadata"]["name"])
        remove(rig, pods[0])  # the master of a gang
        *_, end = until(told, *ENDED)
    words = "was evicted: Eviction API: evicting" if remove is evict else "lost its pod"
    assert (end.phase, end.reason) == (Phase.FAILED, Reason.LOST)
    assert f"(rank 0) {words}" in end.message
    assert (end.ranks[0].phase, end.ranks[0].exit_code) == (RankPhase.FAILED, None)


def test_evictions_do_not_count_as_tries_of_a_job(rig: KubernetesRig) -> None:
    with closing(rig.engine.watch()) as watch:
        listed(watch)
        launched = rig.submit(
            training("sleep 600", backoffLimit=1, terminationGracePeriodSeconds=1)
        )
        told = changes(watch, launched)
        gone = set[str]()
        for _ in range(3):
            until(told, Phase.RUNNING)
            (pod,) = (it for it in pods_of(rig, launched) if it["metadata"]["uid"] not in gone)
            gone.add(pod["metadata"]["uid"])
            evict(rig, pod)
            seen = until(told, Phase.PENDING, *ENDED)[-1]
            assert seen.message == "worker-0 (rank 0) was evicted: Eviction API: evicting."
        end = until(told, Phase.RUNNING)[-1]
    assert (end.phase, end.attempt, end.ranks[0].restarts) == (Phase.RUNNING, 0, 0)


@pytest.mark.parametrize("launch", [training, gang])
def test_a_backoff_limit_leaves_the_exit_code_as_the_cause(
    rig: KubernetesRig, launch: Callable[..., Launch]
) -> None:
    with closing(rig.engine.watch()) as watch:
        listed(watch)
        launched = rig.submit(launch("echo try; sleep 1; exit 5", backoffLimit=1))
        *_, end = until(changes(watch, launched), *ENDED)
    assert (end.phase, end.reason) == (Phase.FAILED, Reason.RANK_FAILED)
    assert "exited with code 5" in end.message
    assert any("exited with code 5" in rank.message for rank in end.ranks)


def test_a_workload_whose_namespace_is_deleted_never_completes(rig: KubernetesRig) -> None:
    launched = training(SAVES)
    launched = replace(launched, handle=replace(launched.handle, project="going"))
    with closing(rig.engine.watch()) as watch:
        listed(watch)
        rig.submit(launched)
        told = changes(watch, launched)
        until(told, Phase.RUNNING)
        rig.api.delete(f"/api/v1/namespaces/{PREFIX}going")
        seen = until(told, None, *ENDED)  # type: ignore[arg-type]
    assert Phase.COMPLETED not in {one.phase for one in seen}
    assert seen[-1].message == f"Its namespace {PREFIX}going was deleted."
    ranks = [one.ranks[0] for one in seen if one.ranks]
    assert {rank.exit_code for rank in ranks} == {None}


def test_a_process_that_was_killed_for_memory_is_noted(rig: KubernetesRig) -> None:
    """The shell continues after its child was killed."""
    script = "sh -c 'exec tail /dev/zero'; sleep 1; exit 0"
    launched = training(script)
    compute = {"gpuDevicesRequest": 0, "cpuMemoryRequest": "30M", "cpuMemoryLimit": "30M"}
    document = documents.dump_spec(launched.spec)
    document["worker"]["compute"] |= compute
    launched = replace(launched, spec=documents.load_spec(document))
    heard = list[ClusterEvent]()
    with closing(rig.engine.watch()) as watch:
        listed(watch)
        rig.submit(launched)
        *_, end = until(changes(watch, launched), *ENDED)
        heard.extend(rig.engine.events())
    assert end.phase is Phase.COMPLETED
    notes = {event.key: event for event in heard if event.reason == "OOMKilled"}
    (note,) = notes.values()
    assert "ended with exit code 0" in note.message


def test_another_process_tells_the_same_end(rig: KubernetesRig) -> None:
    """It has seen nothing of what was before."""
    launched = rig.submit(training("exit 5", backoffLimit=1))
    rig.over(launched)
    other = KubernetesEngine(rig.account, prefix=PREFIX)
    seen = other.observe(launched.handle)
    assert seen
    assert seen.message == "worker-0 (rank 0) exited with code 5."
    assert seen.ranks[0].restarts == 1
