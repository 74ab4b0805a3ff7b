"""What somebody does with kubectl, as the engine sees it. Real pods."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from engines.base import Launch, Observation
from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.names import job_name
from engines.kubernetes.watch.watcher import PODS
from spec.phases import Phase
from tests.engines.kubernetes.conftest import PREFIX, KubernetesRig
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes


def told(
    watch: Iterator[Observation | None], launched: Launch, *phases: Phase | None
) -> Observation:
    """The next observation of the workload in one of the phases."""
    found: list[Observation] = []

    def ask() -> bool:
        seen = next(watch)
        if seen and seen.workload_id == launched.handle.workload_id and seen.phase in phases:
            found.append(seen)
        return bool(found)

    wait_for(ask, 60, f"{phases}", every=0)
    return found[0]


def suspend(rig: KubernetesRig, launched: Launch, *, on: bool) -> None:
    path = PYTORCH.path(f"{PREFIX}{launched.handle.project}", job_name(launched.handle))
    rig.api.merge(path, {"spec": {"runPolicy": {"suspend": on}}})


def pods(rig: KubernetesRig) -> set[str]:
    return {pod["metadata"]["uid"] for pod in rig.mine(PODS)}


def test_a_job_suspended_and_resumed_by_hand_is_followed(rig: KubernetesRig) -> None:
    launched = rig.submit(rig.endless())
    with closing(rig.engine.watch()) as watch:
        running = told(watch, launched, Phase.RUNNING)
        suspend(rig, launched, on=True)
        stopped = told(watch, launched, Phase.STOPPED)
        assert stopped.sequence > running.sequence
        assert not pods(rig)
        suspend(rig, launched, on=False)
        again = told(watch, launched, Phase.RUNNING)
        assert again.sequence > stopped.sequence, "it is later, not old news"
        before = pods(rig)
        rig.engine.submit(replace(launched, run=2))  # Trainyard's own next run takes it over
        assert told(watch, launched, Phase.RUNNING).run == 2
    assert pods(rig) == before, "the pods that run are left alone"


def test_a_job_stopped_while_nobody_watched_is_stopped(rig: KubernetesRig) -> None:
    """The last pod was newer than what is left of the job; the list's own version is newer yet."""
    launched = rig.submit(rig.endless())
    with closing(rig.engine.watch()) as watch:
        running = told(watch, launched, Phase.RUNNING)
    suspend(rig, launched, on=True)
    wait_for(lambda: not pods(rig), 90, "the pods to go")
    with closing(rig.engine.watch()) as watch:
        stopped = told(watch, launched, Phase.STOPPED)
    assert stopped.sequence > running.sequence
    seen = rig.seen(launched, Phase.STOPPED)
    assert seen.sequence > running.sequence


def test_a_namespace_that_is_deleted_takes_its_workloads(rig: KubernetesRig) -> None:
    launched = rig.endless()
    launched = rig.submit(replace(launched, handle=replace(launched.handle, project="doomed")))
    with closing(rig.engine.watch()) as watch:
        told(watch, launched, Phase.RUNNING)
        rig.api.delete(f"/api/v1/namespaces/{PREFIX}doomed")
        assert told(watch, launched, None).message == f"Its namespace {PREFIX}doomed was deleted."
    assert rig.engine.observe(launched.handle) is None
