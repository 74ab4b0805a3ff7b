"""Why pods do not run, as a real cluster says it: one cause, and the events behind it."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from engines.base import ClusterEvent, Launch, Observation
from engines.kubernetes.cluster import discovery
from engines.kubernetes.jobs import MPI
from engines.kubernetes.labels import PROJECT, WORKLOAD
from engines.kubernetes.watch import reflector, watcher
from engines.kubernetes.watch.watcher import GROUP
from spec.data.files import SecretVolume
from spec.data.storage import Pvc, Storage
from spec.framework import Framework
from spec.parts.compute import Compute
from spec.phases import Phase, Reason
from spec.problems.causes import Cause, CauseKind
from tests.engines.kubernetes.conftest import PREFIX, KubernetesRig
from tests.engines.kubernetes.launches import with_spec
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CRD = f"{CRDS}/podgroups.scheduling.run.ai"


def awaited(
    watch: Iterator[Observation | None], launched: Launch, kind: CauseKind
) -> tuple[Observation, Cause]:
    """The first observation of the workload with such a cause."""
    found: list[tuple[Observation, Cause]] = []

    def ask() -> bool:
        seen = next(watch)
        mine = seen and seen.workload_id == launched.handle.workload_id
        if mine and seen and seen.cause and seen.cause.kind is kind:
            found.append((seen, seen.cause))
        return bool(found)

    wait_for(ask, 90, f"a cause of kind {kind}", every=0)
    return found[0]


def changed(launched: Launch, **fields: Any) -> Launch:
    worker = launched.spec.worker.model_copy(update=fields)
    return replace(launched, spec=launched.spec.model_copy(update={"worker": worker}))


def test_an_image_that_is_not_there(rig: KubernetesRig) -> None:
    launched = rig.submit(changed(rig.endless(), image="127.0.0.1:1/nothing:1"))
    mine = launched.handle.workload_id
    heard = list[ClusterEvent]()

    def hear() -> bool:
        next(watch)
        heard.extend(event for event in rig.engine.events() if event.workload_id == mine)
        return any("Failed to pull image" in event.message for event in heard)

    with closing(rig.engine.watch()) as watch:
        seen, cause = awaited(watch, launched, CauseKind.IMAGE)
        wait_for(hear, 30, "the event", every=0)
    assert (seen.phase, cause.title) == (
        Phase.INITIALIZING,
        "The image 127.0.0.1:1/nothing:1 cannot be pulled",
    )
    assert len({event.key for event in heard}) >= 2
    assert any(event.about.startswith("Pod demo-") for event in heard)


def test_a_program_that_the_image_does_not_have(rig: KubernetesRig) -> None:
    seen = rig.over(rig.submit(changed(rig.endless(), command="no-such-program --x")))
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.COMMAND_NOT_FOUND)
    assert "could not be started" in seen.message
    assert 'exec: "no-such-program": executable file not found in $PATH.' in seen.message


def test_an_mpi_worker_without_sshd_is_the_cause(rig: KubernetesRig) -> None:
    """Its launcher waits for it for ever."""
    launched = rig.shell("true", distributed_framework=Framework.MPI, num_workers=1)
    launched = rig.submit(
        with_spec(launched, worker={}, mpiLauncherCreationPolicy="WaitForWorkersReady")
    )
    with closing(rig.engine.watch()) as watch:
        _, cause = awaited(watch, launched, CauseKind.PROGRAM)
    assert cause.title == "/usr/sbin/sshd cannot be started: no such file or directory"
    assert "/usr/sbin/sshd" in cause.said


def test_a_claim_that_is_not_there(rig: KubernetesRig) -> None:
    claim = Pvc(path="/data", existing_pvc=True, claim_name="nothing")
    launched = rig.submit(changed(rig.endless(), storage=Storage(pvc=(claim,))))
    with closing(rig.engine.watch()) as watch:
        seen, cause = awaited(watch, launched, CauseKind.STORAGE)
    assert (seen.phase, cause.title) == (Phase.PENDING, "The claim nothing is missing")


def test_a_secret_that_is_not_there(rig: KubernetesRig) -> None:
    """The pod waits without a word of its own: only an event says why."""
    volume = SecretVolume(secret="nothing", mount_path="/keys")
    launched = rig.submit(changed(rig.endless(), storage=Storage(secret_volume=(volume,))))
    with closing(rig.engine.watch()) as watch:
        seen, cause = awaited(watch, launched, CauseKind.MISSING)
    assert (seen.phase, cause.title) == (Phase.INITIALIZING, "The Secret nothing is missing")
    assert cause.who


def test_a_quota_of_the_namespace_that_a_gang_exceeds(rig: KubernetesRig) -> None:
    space = f"{PREFIX}tight"
    labels = {"labels": {PROJECT: "tight"}}
    rig.api.create(
        "/api/v1/namespaces",
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space, **labels}},
    )
    quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}}
    path = f"/api/v1/namespaces/{space}/resourcequotas"
    rig.api.create(path, {"apiVersion": "v1", "kind": "ResourceQuota", **quota})
    wait_for(lambda: rig.api.get(f"{path}/few").get("status", {}).get("hard"), 30)
    launched = rig.endless()
    launched = rig.submit(replace(launched, handle=replace(launched.handle, project="tight")))
    with closing(rig.engine.watch()) as watch:
        seen, cause = awaited(watch, launched, CauseKind.QUOTA)
    assert seen.phase is Phase.PENDING
    assert "he namespace's ResourceQuota few " in cause.title
    assert "pods=1" in f"{cause.title} {cause.todo}"


@pytest.fixture
def group(rig: KubernetesRig) -> Iterator[str]:
    """Where KAI's pod groups of the tests' project are."""
    if not rig.api.find(CRD):
        pytest.skip("The cluster has no PodGroup of KAI.")
    path = GROUP.path.replace("podgroups", f"namespaces/{PREFIX}team-a/podgroups")
    yield path
    rig.api.delete(f"{path}/told")


@pytest.mark.kai
def test_the_reason_of_kai_for_a_gang_precedes_those_of_pods(
    rig: KubernetesRig, group: str
) -> None:
    launched = rig.submit(changed(rig.endless(), compute=Compute(gpu_devices_request=64)))
    reason = {"reason": "OverLimit", "message": "team-a may have 8 GPUs"}
    kind = "UnschedulableOnNodePool"
    status = {"schedulingConditions": [{"type": kind, "status": "True", "reasons": [reason]}]}
    labels = {WORKLOAD: str(launched.handle.workload_id)}
    made = {
        "apiVersion": watcher.GROUPS_VERSION,
        "kind": "PodGroup",
        "metadata": {"name": "told", "labels": labels},
        "spec": {"minMember": 2},
    }
    with closing(rig.engine.watch()) as watch:
        awaited(watch, launched, CauseKind.NODES)
        rig.api.create(group, made)
        rig.api.merge(f"{group}/told/status", {"status": status})
        seen, cause = awaited(watch, launched, CauseKind.QUOTA)
    assert cause.said == "team-a may have 8 GPUs"
    assert seen.reason is Reason.WAITING_FOR_QUOTA


@pytest.mark.kai  # there is no MPI operator beside it
def test_a_kind_that_is_installed_later_is_watched(
    rig: KubernetesRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rig.api.find(f"{CRDS}/mpijobs.kubeflow.org"):
        pytest.skip("The cluster has MPIJob already.")
    monkeypatch.setattr(reflector, "DISCOVER_SECONDS", 0.5)
    launched = rig.endless()
    rig.submit(launched)  # makes the namespace
    job = {
        "apiVersion": MPI.api_version,
        "kind": MPI.name,
        "metadata": {"name": "late", "labels": {WORKLOAD: str(uuid4())}},
        "spec": {MPI.replicas: {"Worker": {"replicas": 1}}},
    }
    with closing(rig.engine.watch()) as watch:
        assert next(watch) or next(watch) is None
        rig.api.create(CRDS, MPI_CRD)
        try:
            wait_for(lambda: MPI in discovery.existing_job_kinds(rig.api), 30, "the kind")
            path = MPI.path(f"{PREFIX}team-a", "late")
            rig.api.create(path.removesuffix("/late"), job)
            mine = replace(launched, handle=replace(launched.handle, workload_id=uid_of(job)))
            awaited(watch, mine, CauseKind.OPERATOR)
        finally:
            rig.api.delete(f"{CRDS}/mpijobs.kubeflow.org")


def uid_of(job: dict[str, Any]) -> UUID:
    return UUID(job["metadata"]["labels"][WORKLOAD])


MPI_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {
        "name": "mpijobs.kubeflow.org",
        "annotations": {"api-approved.kubernetes.io": "unapproved, a test"},
    },
    "spec": {
        "group": MPI.group,
        "names": {"kind": MPI.name, "plural": MPI.plural, "singular": "mpijob"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": MPI.version,
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}
