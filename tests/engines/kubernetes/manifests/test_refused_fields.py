"""What a real API server refuses arrives with the field of the spec that it is about."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from engines.base import EngineRefused, Handle, Launch
from engines.kubernetes.client.api import Api
from engines.kubernetes.client.connect import connect
from engines.kubernetes.cluster import rbac
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.jobs import MPI, PYTORCH
from engines.kubernetes.manifests import refused_fields
from engines.kubernetes.manifests.job import manifests
from spec.formats import documents
from tests.cluster import KUBECONFIG
from tests.engines.kubernetes.conftest import PREFIX
from tests.waiting import wait_for

PROJECT = "limited"
SPACE = f"/api/v1/namespaces/{PREFIX}{PROJECT}"
AT = "spec.pytorchReplicaSpecs"
IN_CONTAINER = "template.spec.containers[0]"


@pytest.mark.parametrize(
    ("field", "message", "ours"),
    [
        (f"{AT}.Worker.{IN_CONTAINER}.image", "", "worker.image"),
        (f"{AT}.Master.{IN_CONTAINER}.resources.limits", "", "master.compute"),
        ("", f"denied: {AT}[Worker].{IN_CONTAINER}.image: Required value", "worker.image"),
        (f"{AT}.Worker.template.spec.tolerations[0].effect", "", "worker.tolerations"),
        (f"{AT}.Worker.template.spec.volumes[2].name", "", "worker.storage"),
        (f"{AT}.Worker.{IN_CONTAINER}.livenessProbe.httpGet", "", "worker.probes.liveness"),
        (f"{AT}.Worker.replicas", "", "numWorkers"),
        (f"{AT}.Worker.template.spec.hostAliases", "", "worker"),
        ("metadata.name", "", "name"),
        ("spec.runPolicy.backoffLimit", "", "backoffLimit"),
        ("spec.elasticPolicy.minReplicas", "", "minReplicas"),
        ("", "exceeded quota: one", ""),
    ],
)
def test_a_field_of_the_job_is_one_of_the_spec(field: str, message: str, ours: str) -> None:
    assert refused_fields.spec_field(PYTORCH, field, message, own_master=True) == ours


def test_a_master_that_inherits_has_the_workers_fields() -> None:
    field = f"spec.mpiReplicaSpecs.Launcher.{IN_CONTAINER}.image"
    assert refused_fields.spec_field(MPI, field, "", own_master=False) == "worker.image"


def launched(**worker: Any) -> Launch:
    document = {"distributedFramework": "PyTorch", "worker": {"image": "img:1", **worker}}
    return Launch(Handle(uuid4(), "demo", PROJECT), 1, documents.load_spec(document))


@pytest.fixture
def engine(api: Api) -> Iterator[KubernetesEngine]:
    """In a namespace that allows no jobs and no volume of more than 1 MB."""
    if api.find(SPACE) is None:
        name = {"name": SPACE.rpartition("/")[2], "labels": {"trainyard.io/project": PROJECT}}
        api.create("/api/v1/namespaces", {"kind": "Namespace", "metadata": name})
    quota = {"hard": {"count/pytorchjobs.kubeflow.org": "0"}}
    limit = {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "1M"}}]}
    made = {"resourcequotas": ("ResourceQuota", quota), "limitranges": ("LimitRange", limit)}
    for plural, (kind, spec) in made.items():
        api.create(f"{SPACE}/{plural}", {"kind": kind, "metadata": {"name": "few"}, "spec": spec})
    yield KubernetesEngine(api, prefix=PREFIX)
    for plural in made:
        api.delete(f"{SPACE}/{plural}/few")


@pytest.mark.kubernetes
def test_a_quota_of_the_namespace_refuses_with_its_words(engine: KubernetesEngine) -> None:
    with pytest.raises(EngineRefused, match=r"exceeded quota: few.*count/pytorchjobs") as refusal:
        engine.submit(launched())
    assert refusal.value.field == ""


@pytest.mark.kubernetes
def test_a_volume_that_is_too_large_is_named(engine: KubernetesEngine) -> None:
    volumes = [{"path": f"/{size}", "claimInfo": {"size": size}} for size in ("1M", "2G")]
    wanted = launched(storage={"pvc": volumes})
    with pytest.raises(EngineRefused, match="maximum storage usage") as refusal:
        engine.submit(wanted)
    assert refusal.value.field == "worker.storage.pvc[1]"
    engine.delete(wanted.handle)


@pytest.mark.kubernetes
@pytest.mark.parametrize("kept", [None, ""])
def test_webhook_and_schema_name_the_field(api: Api, kept: str | None) -> None:
    job = manifests(launched(), prefix=PREFIX)[-1]
    replica = job["spec"]["pytorchReplicaSpecs"]["Worker"]
    container = replica["template"]["spec"]["containers"][0]
    container.pop("image") if kept is None else container.update(image=kept)
    job["metadata"]["namespace"] = "default"
    path = PYTORCH.path("default", job["metadata"]["name"])
    with pytest.raises(EngineRefused) as refusal:
        api.apply(path, job, dryRun="All")
    found = refused_fields.spec_field(
        PYTORCH, refusal.value.field, str(refusal.value), own_master=False
    )
    assert found == "worker.image"


@pytest.fixture
def nobody(api: Api) -> KubernetesEngine:
    """As a service account that may do nothing."""
    path = "/api/v1/namespaces/default/serviceaccounts/nobody"
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "nobody"}}
    api.apply(path, account)
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = api.create(f"{path}/token", request)["status"]["token"]
    config = yaml.safe_load(Path(KUBECONFIG).read_text())
    for user in config["users"]:
        user["user"] = {"token": token}
    return KubernetesEngine(connect(yaml.safe_dump(config)), prefix=PREFIX)


@pytest.mark.kubernetes
def test_a_service_account_without_rights_says_what_it_may_not(nobody: KubernetesEngine) -> None:
    wanted = launched()
    with pytest.raises(EngineRefused, match=r"namespaces .*is forbidden: User") as refusal:
        nobody.submit(replace(wanted, handle=replace(wanted.handle, project="elsewhere")))
    assert refusal.value.field == ""


@pytest.fixture
def without_volumes(api: Api, nobody: KubernetesEngine) -> Iterator[KubernetesEngine]:
    """With all rights but those that not everybody needs."""
    rules = [rule for rule, right in zip(rbac.rules(), rbac.RIGHTS, strict=True) if right.needed]
    place = "/apis/rbac.authorization.k8s.io/v1"
    version = "rbac.authorization.k8s.io/v1"
    meta = {"name": "trainyard-test-few"}
    role = {"apiVersion": version, "kind": "ClusterRole", "metadata": meta, "rules": rules}
    subject = {"kind": "ServiceAccount", "name": "nobody", "namespace": "default"}
    named = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", **meta}
    binding = {"apiVersion": version, "kind": "ClusterRoleBinding", "metadata": meta}
    api.apply(f"{place}/clusterroles/{meta['name']}", role)
    api.apply(
        f"{place}/clusterrolebindings/{meta['name']}",
        binding | {"roleRef": named, "subjects": [subject]},
    )
    yield nobody
    api.delete(f"{place}/clusterrolebindings/{meta['name']}")
    api.delete(f"{place}/clusterroles/{meta['name']}")


def allowed(engine: KubernetesEngine, wanted: Launch) -> bool:
    """Whether the rights have reached the API server."""
    try:
        engine.submit(wanted)
    except EngineRefused:
        return False
    return True


@pytest.mark.kubernetes
def test_a_service_account_that_may_have_no_volumes_may_still_train(
    without_volumes: KubernetesEngine,
) -> None:
    wanted = replace(launched(), handle=Handle(uuid4(), "demo", "team-a"))
    wait_for(lambda: allowed(without_volumes, wanted), 30, "the rights to hold")
    without_volumes.stop(wanted.handle, run=1)
    without_volumes.delete(wanted.handle)
    assert without_volumes.observe(wanted.handle) is None
    volumes = {"pvc": [{"path": "/a", "claimInfo": {"size": "1M"}}]}
    refused = replace(launched(storage=volumes), handle=Handle(uuid4(), "demo", "team-a"))
    with pytest.raises(EngineRefused, match="forbidden") as refusal:
        without_volumes.submit(refused)
    assert refusal.value.field == "worker.storage.pvc[0]"
