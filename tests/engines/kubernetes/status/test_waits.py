"""Waits that accuse nobody falsely, as a real cluster says them: volumes, quotas, images."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from engines.base import EngineUnavailable, Launch, Observation
from engines.kubernetes.jobs import PLAIN_JOB
from engines.kubernetes.names import job_name
from engines.kubernetes.status.causes import lifecycle
from engines.kubernetes.watch import rechecks
from spec.kind import WorkloadKind
from spec.parts.compute import Compute, ExtendedResource
from spec.parts.scheduling import NODE_TYPE
from spec.phases import Phase, Reason
from spec.problems.causes import Cause, CauseKind
from spec.workload import Architecture
from tests.engines.kubernetes.conftest import PREFIX, SPACE, KubernetesRig
from tests.engines.kubernetes.launches import with_spec
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
QUOTAS = f"{SPACE}/resourcequotas"
SLOW = "trainyard-test-slow"
ONE = {"architecture": Architecture.WORKERS_ONLY, "num_workers": 1}


def causes_until(
    watch: Iterator[Observation | None], launched: Launch, title: str
) -> list[tuple[Cause, Observation]]:
    """All causes of the workload that are observed until one has this title."""
    found: list[tuple[Cause, Observation]] = []

    def ask() -> bool:
        seen = next(watch)
        if seen and seen.workload_id == launched.handle.workload_id and seen.cause:
            found.append((seen.cause, seen))
        return bool(found) and found[-1][0].title.startswith(title)

    wait_for(ask, 90, f"{title}; so far {[cause.title for cause, _ in found]}", every=0)
    return found


def changed(launched: Launch, **fields: Any) -> Launch:
    worker = launched.spec.worker.model_copy(update=fields)
    return replace(launched, spec=launched.spec.model_copy(update={"worker": worker}))


@pytest.fixture
def slow_class(rig: KubernetesRig) -> Iterator[str]:
    """A storage class whose volumes are made for their first pod, by a program that is not
    there."""
    rig.api.delete(f"{CLASSES}/{SLOW}")
    made = {
        "metadata": {"name": SLOW},
        "provisioner": "example.com/none",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    rig.api.create(CLASSES, made)
    yield SLOW
    rig.api.delete(f"{CLASSES}/{SLOW}")


def test_a_volume_made_for_its_first_pod_accuses_no_scheduler(
    rig: KubernetesRig, slow_class: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "SCHEDULER_SECONDS", 1)
    monkeypatch.setattr(rechecks, "FIRST_SECONDS", 1.0)
    claim = {"path": "/data", "claimInfo": {"size": "1M", "storageClass": slow_class}}
    launched = rig.shell("true", **ONE)
    launched = rig.submit(with_spec(launched, worker={"storage": {"pvc": [claim]}}))
    with closing(rig.engine.watch()) as watch:
        causes = causes_until(watch, launched, "A volume does not exist yet")
    cause, seen = causes[-1]
    assert (seen.phase, cause.kind) == (Phase.PENDING, CauseKind.STORAGE)
    assert "whether the provisioner example.com/none runs" in cause.todo
    assert "example.com/none" in cause.said
    without_events = rig.seen(launched, Phase.PENDING).cause
    titles = [cause.title for cause, _ in causes]
    titles += [without_events.title] if without_events else []
    assert not any(title.startswith("The scheduler") and "answer" in title for title in titles)


def test_an_image_without_a_command_says_so(rig: KubernetesRig) -> None:
    launched = rig.submit(changed(rig.endless(), command=None))
    with closing(rig.engine.watch()) as watch:
        causes = causes_until(watch, launched, "The image ")
    cause, seen = causes[-1]
    assert cause.title.endswith(" has no command of its own")
    assert (seen.phase, seen.reason) == (Phase.INITIALIZING, Reason.COMMAND_NOT_FOUND)
    assert "no command specified" in cause.said
    assert "has no command of its own" in seen.message


@pytest.fixture
def single_job(rig: KubernetesRig) -> Iterator[None]:
    """Have the project's namespace allow one job."""
    rig.keep("resourcequotas", "one-job", {"spec": {"hard": {"count/jobs.batch": "1"}}})
    wait_for(lambda: rig.api.get(f"{QUOTAS}/one-job").get("status", {}).get("hard"), 30)
    yield
    rig.api.delete(f"{QUOTAS}/one-job")


@pytest.mark.usefixtures("single_job")
def test_a_used_up_quota_of_jobs_is_waited_for(
    rig: KubernetesRig,
) -> None:
    def training() -> Launch:
        return rig.shell("true", kind=WorkloadKind.TRAINING, distributed_framework=None)

    first = rig.submit(training())
    assert rig.over(first).phase is Phase.COMPLETED
    second = training()
    with pytest.raises(EngineUnavailable) as delay:
        rig.engine.submit(second)
    cause = delay.value.cause
    assert cause
    assert (cause.reason, cause.title) == (
        Reason.WAITING_FOR_QUOTA,
        "The namespace's ResourceQuota one-job is used up",
    )
    assert "Ended workloads count as well" in cause.todo
    rig.engine.delete(first.handle)
    path = PLAIN_JOB.path(f"{PREFIX}team-a", job_name(first.handle))
    wait_for(lambda: rig.api.find(path) is None, 30, "the first job to be gone")

    def is_submitted() -> bool:
        try:
            rig.engine.submit(second)
        except EngineUnavailable:
            return False
        return True

    wait_for(is_submitted, 30, "room for the second job", every=0.1)
    assert rig.over(second).phase is Phase.COMPLETED


def test_a_quota_that_no_pod_fits_is_never_called_used_up(rig: KubernetesRig) -> None:
    rig.keep("resourcequotas", "tiny", {"spec": {"hard": {"requests.cpu": "5m"}}})
    wait_for(lambda: rig.api.get(f"{QUOTAS}/tiny").get("status", {}).get("hard"), 30)
    launched = changed(rig.shell("true", **ONE), compute=Compute(cpu_core_request=0.01))
    launched = rig.submit(launched)
    try:
        with closing(rig.engine.watch()) as watch:
            causes = causes_until(watch, launched, "The namespace's ResourceQuota tiny")
    finally:
        rig.api.delete(f"{QUOTAS}/tiny")
    cause, seen = causes[-1]
    assert cause.title.endswith("allows requests.cpu=5m, and requests.cpu=10m is requested")
    assert (seen.phase, seen.reason) == (Phase.PENDING, Reason.NEVER_FITS)


def test_an_extended_resource_that_no_node_has_is_never_waited_for(rig: KubernetesRig) -> None:
    fpga = ExtendedResource(resource="example.com/fpga", quantity="1")
    compute = Compute(gpu_devices_request=0, extended_resources=(fpga,))
    launched = rig.submit(changed(rig.shell("true", **ONE), compute=compute))
    with closing(rig.engine.watch()) as watch:
        causes = causes_until(watch, launched, "No node of the cluster has example.com/fpga")
    assert causes[-1][0].todo.startswith("It will never start unless such nodes are added.")


@pytest.fixture
def reserved_node(rig: KubernetesRig) -> Iterator[str]:
    """A node of a type of its own, with a taint. No kubelet is behind it."""
    name = "trainyard-test-reserved"
    path = f"/api/v1/nodes/{name}"
    rig.api.delete(path)
    wait_for(lambda: rig.api.find(path) is None, 30, "an earlier node to be gone")
    taint = {"key": "dedicated", "value": "others", "effect": "NoSchedule"}
    labels = {NODE_TYPE: "trainyard-test"}
    made = {"metadata": {"name": name, "labels": labels}, "spec": {"taints": [taint]}}
    rig.api.create("/api/v1/nodes", made)
    room = {"cpu": "8", "memory": "8Gi", "pods": "10"}
    rig.api.merge(f"{path}/status", {"status": {"allocatable": room, "capacity": room}})
    yield "trainyard-test"
    rig.api.delete(path)


def test_a_taint_on_the_nodes_of_a_type_is_named(rig: KubernetesRig, reserved_node: str) -> None:
    launched = rig.submit(changed(rig.shell("true", **ONE), node_type=reserved_node))
    with closing(rig.engine.watch()) as watch:
        causes = causes_until(watch, launched, "Nodes are reserved for others by the taint")
    cause, seen = causes[-1]
    assert cause.title == "Nodes are reserved for others by the taint dedicated"
    assert cause.todo.startswith("Add a toleration for the taint dedicated")
    assert cause.shares[0].label == "reserved for others by the taint dedicated"
    assert seen.message.startswith(f"{cause.who}: {cause.title}")
