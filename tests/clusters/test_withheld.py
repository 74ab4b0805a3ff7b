"""The wizard withholds fields that an engine refuses, for the reason that the engine has."""

from typing import Any

import pytest
from pytest_django import Settings

from clusters.models import Cluster
from clusters.withheld import HANDLE, PROBES, PROGRAM, TRAINING, WORKERS, why_withheld
from engines.base import Launch
from spec.workload import WorkloadSpec
from tests.factories import ClusterFactory

pytestmark = pytest.mark.django_db
GPU_PARTS = {"gpuRequestType", "gpuPortionRequest", "gpuMemoryRequest"}
GPU_LIMITS = {"gpuPortionLimit", "gpuMemoryLimit"}
EXTERNAL = "connections.connection_type.ExternalUrl"
SCHEDULED = {"priorityClass", "topology.name", "topology.required", "topology.preferred"}
SECRETS = {"storage.git.secretRef.name", "storage.s3.accessKeySecret"}
JOB_MARKS = {"jobForm", "jobLabels", "jobAnnotations"}
OF_KUBERNETES = {
    "connections.connection_type.NodePort",
    "connections.connection_type.LoadBalancer",
    "storage.pvc.claimInfo.storageClass",
    "storage.pvc.claimInfo.volumeMode",
    "storage.configMapVolume.configMap",
    "storage.secretVolume.secret",
    *SECRETS,
    *SCHEDULED,
    *JOB_MARKS,
    "queue",
    "minReplicas",
    "maxReplicas",
}
WITHHELD = {
    "local": {*OF_KUBERNETES, "nodeType"},
    "kubernetes": {
        "setup",
        "preemptibility",
        "queue",
        EXTERNAL,
        *SCHEDULED,
        *(f"compute.{key}" for key in GPU_PARTS | GPU_LIMITS),
    },
    "slurm": {
        *OF_KUBERNETES,
        "preemptibility",
        "podAffinity",
        *(f"compute.{key}" for key in GPU_PARTS | GPU_LIMITS),
        "storage.nfs",
    },
}


def withheld(cluster: Cluster) -> set[str]:
    return {field for field in PROBES if why_withheld(cluster, field)}


@pytest.mark.parametrize("kind", WITHHELD)
def test_a_new_cluster_withholds_what_its_engine_refuses(kind: str) -> None:
    assert withheld(ClusterFactory(kind=kind)) == WITHHELD[kind]


def test_kubernetes_with_everything_withholds_what_nothing_enforces(settings: Settings) -> None:
    settings.PUBLIC_URL = "https://trainyard.example.com"
    cluster = ClusterFactory(
        kind="kubernetes", settings_json={"ingress_domain": "apps.example.com"}
    )
    has: dict[str, Any] = {"schedulers": ["kai-scheduler"], "priority_classes": ["high"]}
    cluster.capabilities_json = {"frameworks": [], "kueue": "v1beta2", **has}
    assert withheld(cluster) == {"setup", *(f"compute.{key}" for key in GPU_LIMITS)}


@pytest.mark.parametrize("kind", WITHHELD)
@pytest.mark.parametrize("document", [TRAINING, WORKERS])
def test_no_engine_refuses_a_probe_without_its_field(kind: str, document: dict[str, Any]) -> None:
    cluster: Cluster = ClusterFactory(kind=kind)
    spec = WorkloadSpec.model_validate({**document, "worker": PROGRAM})
    assert list(cluster.definition.unsupported(cluster, Launch(HANDLE, 1, spec))) == []


def test_a_reason_is_the_engines_without_its_advice() -> None:
    slurm = ClusterFactory(kind="slurm")
    assert why_withheld(slurm, "compute.gpuMemoryLimit") == "Slurm gives whole GPUs"
    assert why_withheld(slurm, "podAffinity") == "Slurm places ranks itself"


def test_a_field_without_effect_is_withheld_although_it_is_not_refused() -> None:
    assert why_withheld(ClusterFactory(kind="slurm"), "tolerations") == "Slurm has no taints"
    assert why_withheld(ClusterFactory(kind="kubernetes"), "tolerations") == ""
