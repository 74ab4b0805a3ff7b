"""What a real API server refuses arrives with the field of the spec that it is about."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from engines.base import EngineRefused, Handle, Launch
from engines.kubernetes import fields
from engines.kubernetes.api import Api
from engines.kubernetes.connecting import connect
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.kinds import MPI, PYTORCH, job_name
from engines.kubernetes.manifests import manifests
from spec import documents
from tests.cluster import KUBECONFIG
from tests.engines.kubernetes.conftest import PREFIX

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
        (f"{AT}.Worker.replicas", "", "numWorkers"),
        (f"{AT}.Worker.template.spec.hostAliases", "", "worker"),
        ("metadata.name", "", "name"),
        ("spec.runPolicy.backoffLimit", "", "backoffLimit"),
        ("spec.elasticPolicy.minReplicas", "", "minReplicas"),
        ("", "exceeded quota: one", ""),
    ],
)
def test_a_field_of_the_job_is_one_of_the_spec(field: str, message: str, ours: str) -> None:
    assert fields.ours(PYTORCH, field, message, own_master=True) == ours


def test_a_master_that_inherits_has_the_workers_fields() -> None:
    field = f"spec.mpiReplicaSpecs.Launcher.{IN_CONTAINER}.image"
    assert fields.ours(MPI, field, "", own_master=False) == "worker.image"


def launched(**worker: Any) -> Launch:
    document = {"distributedFramework": "PyTorch", "worker": {"image": "img:1", **worker}}
    return Launch(Handle(uuid4(), "demo", PROJECT), 1, documents.load(document))


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
    found = fields.ours(PYTORCH, refusal.value.field, str(refusal.value), own_master=False)
    assert found == "worker.image"


@pytest.mark.kubernetes
def test_a_service_account_without_rights_says_what_it_may_not(api: Api) -> None:
    account = {"kind": "ServiceAccount", "metadata": {"name": "nobody"}}
    api.apply("/api/v1/namespaces/default/serviceaccounts/nobody", {"apiVersion": "v1", **account})
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    path = "/api/v1/namespaces/default/serviceaccounts/nobody/token"
    token = api.create(path, request)["status"]["token"]
    config = yaml.safe_load(Path(KUBECONFIG).read_text())
    for user in config["users"]:
        user["user"] = {"token": token}
    engine = KubernetesEngine(connect(yaml.safe_dump(config)), prefix=PREFIX)
    wanted = launched()
    with pytest.raises(EngineRefused, match=r"pytorchjobs.*is forbidden: User") as refusal:
        engine.submit(replace(wanted, handle=replace(wanted.handle, project="elsewhere")))
    assert job_name(wanted.handle) in str(refusal.value)
