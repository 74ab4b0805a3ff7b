"""A queue of real Kueue, used with exactly the permissions in the manifest."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from engines.base import EngineUnavailable, Launch
from engines.kubernetes.kueue import places
from spec.kind import WorkloadKind
from spec.parts.compute import Compute
from spec.phases import Phase, Reason
from tests.engines.kubernetes.conftest import PREFIX, KubernetesRig
from tests.engines.kubernetes.kueue.real_queue import Queue
from tests.engines.reading import listed
from tests.waiting import wait_for

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue]
SPACE = f"{PREFIX}team-a"
SMALL = Compute(gpu_devices_request=0, cpu_core_request=0.02, cpu_memory_request="20M")


@pytest.fixture
def queue(rig: KubernetesRig) -> Iterator[Queue]:
    """A queue of the project, which jobs must name. It has no seats yet."""
    found = Queue.in_namespace(rig.api, SPACE, "team")
    found.open(seats=0)
    yield found
    rig.clean()
    found.close()


def submit(
    rig: KubernetesRig, script: str, kind: WorkloadKind = WorkloadKind.DISTRIBUTED
) -> Launch:
    """Submit a gang of two, or a single pod, into the queue."""
    launched = rig.shell(script, queue="team")
    fields: dict[str, Any] = {"worker": launched.spec.worker.model_copy(update={"compute": SMALL})}
    if kind is not WorkloadKind.DISTRIBUTED:
        fields |= {"kind": kind, "distributed_framework": None, "num_workers": 1}
    spec = launched.spec.model_copy(update=fields)
    return rig.submit(replace(launched, spec=spec, site=replace(launched.site, kueue=True)))


def test_places_in_the_queue_are_told_and_change(
    rig: KubernetesRig, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kueue orders jobs of the same second by their UID."""
    monkeypatch.setattr(places, "ASK_SECONDS", 0.5)
    queue.open(seats=2)
    running = submit(rig, "sleep 600")
    rig.seen(running, Phase.RUNNING)
    waiting = [submit(rig, "true") for _ in range(2)]
    told: dict[UUID, str] = {}

    def has_places(*expected: str) -> bool:
        if seen := next(watch):
            told[seen.workload_id] = seen.message.rpartition("; ")[2]
        return {told.get(it.handle.workload_id) for it in waiting} == {*expected}

    with closing(rig.engine.watch()) as watch:
        both = partial(has_places, "1st in queue team", "2nd in queue team")
        wait_for(both, 60, "their places", every=0)
        (first,) = [it for it in waiting if told[it.handle.workload_id].startswith("1st")]
        waiting.remove(first)
        rig.engine.stop(first.handle, run=1)
        wait_for(partial(has_places, "1st in queue team"), 60, "the next place", every=0)


@pytest.mark.parametrize("kind", [WorkloadKind.DISTRIBUTED, WorkloadKind.TRAINING])
def test_a_queued_job_is_stopped_run_again_and_deleted(
    rig: KubernetesRig, queue: Queue, kind: WorkloadKind
) -> None:
    launched = submit(rig, "exec sleep 600", kind)
    waits = rig.seen(launched, Phase.PENDING)
    assert waits.reason in {Reason.WAITING_FOR_QUOTA, Reason.NEVER_FITS}
    queue.open(seats=2)
    rig.seen(launched, Phase.RUNNING)
    rig.engine.stop(launched.handle, run=1)
    rig.seen(launched, Phase.STOPPED)
    assert queue.taken() == 0
    again = replace(launched, run=2)
    wait_for(partial(is_done, rig, "submit", again), 60, "the next run to be submitted", every=0.2)
    assert rig.seen(again, Phase.RUNNING).run == 2
    wait_for(partial(is_done, rig, "delete", again.handle), 60, "it to be deleted", every=0.2)
    assert queue.entries() == []


def is_done(rig: KubernetesRig, verb: str, what: object) -> bool:
    """Whether the engine could do this now."""
    try:
        getattr(rig.engine, verb)(what)
    except EngineUnavailable:
        return False
    return True


def test_the_kinds_that_kueue_manages_are_listed(rig: KubernetesRig, queue: Queue) -> None:
    findings = {one.name: one.text for one in rig.engine.check()}
    assert "PyTorchJob" in findings["Kueue"]
    assert f"team in {SPACE}" in findings["Queues of Kueue"]


def test_the_watch_tells_of_a_queued_job_what_kueue_does(rig: KubernetesRig, queue: Queue) -> None:
    with closing(rig.engine.watch()) as watch:
        listed(watch)
        launched = submit(rig, "true")
        queue.open(seats=2)
        phases: list[Phase | None] = []
        reasons: set[str] = set()

        def is_over() -> bool:
            seen = next(watch)
            reasons.update(event.reason for event in rig.engine.events())
            if seen and seen.workload_id == launched.handle.workload_id:
                phases.append(seen.phase)
            return Phase.COMPLETED in phases and {"QuotaReserved", "Admitted"} <= reasons

        wait_for(is_over, 90, "it to complete", every=0)
    assert {*phases} <= {Phase.PENDING, Phase.INITIALIZING, Phase.RUNNING, Phase.COMPLETED}
