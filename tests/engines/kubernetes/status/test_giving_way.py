"""A gang gives way to one of a higher priority, and comes back. Real pods, kube-scheduler."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from engines.base import ClusterEvent, Launch, Observation, Site
from engines.kubernetes.names import job_name
from spec.parts.scheduling import PriorityClass
from spec.phases import Phase, Reason
from spec.workload import Architecture
from tests.engines.kubernetes.conftest import PREFIX, KubernetesRig
from tests.engines.kubernetes.seats import seats, with_seats
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


@pytest.fixture
def seat(rig: KubernetesRig) -> Iterator[None]:
    """One node has room for one of those who ask for it."""
    with seats(rig.api, 1):
        yield


@pytest.fixture
def classes(rig: KubernetesRig) -> Iterator[None]:
    wanted = [PriorityClass.LOW, PriorityClass.HIGH]
    missing = [one for one in wanted if rig.api.find(f"{CLASSES}/{one}") is None]
    for one in missing:
        rig.api.create(CLASSES, {"metadata": {"name": str(one)}, "value": one.value_on_cluster})
    yield
    for one in missing:
        rig.api.delete(f"{CLASSES}/{one}")


def gang(rig: KubernetesRig, priority: PriorityClass) -> Launch:
    only = {"architecture": Architecture.WORKERS_ONLY, "num_workers": 1, "backoff_limit": 3}
    launched = with_seats(rig.shell("exec sleep 600", priority_class=priority, **only))
    return replace(launched, site=Site(priority_classes=(str(priority),)))


@pytest.mark.usefixtures("seat", "classes")
def test_a_gang_that_is_preempted_says_by_whom_and_comes_back(rig: KubernetesRig) -> None:
    low = gang(rig, PriorityClass.LOW)
    high = gang(rig, PriorityClass.HIGH)
    heard: list[ClusterEvent] = []
    with closing(rig.engine.watch()) as watch:

        def until(phase: Phase, reason: Reason, words: str = "") -> Observation:
            found: list[Observation] = []

            def ask() -> bool:
                seen = next(watch)
                heard.extend(rig.engine.events())
                if seen and seen.workload_id == low.handle.workload_id:
                    is_right = (seen.phase, seen.reason) == (phase, reason)
                    found[:] = [seen] if is_right and words in seen.message else []
                return bool(found)

            wait_for(ask, 90, f"{phase} {reason}", every=0)
            return found[0]

        rig.submit(low)
        until(Phase.RUNNING, Reason.NONE)
        rig.submit(high)
        # The scheduler marks and deletes the pod first, and says by whom in an event.
        seen = until(Phase.PENDING, Reason.PREEMPTED, "was preempted by ")
        rig.engine.delete(high.handle)
        until(Phase.RUNNING, Reason.NONE)
    assert seen.message.startswith("worker-0 (rank 0) was preempted by ")
    by = f"{PREFIX}team-a/{job_name(high.handle)}-worker-0"
    assert any(by in event.message for event in heard if event.reason == "Preempted"), heard
