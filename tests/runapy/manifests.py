"""Calls about workloads from manifests of Kubernetes, by version 2 of NVIDIA's client."""

import json
from base64 import b64encode

from runai import models

from config.rest.examples import MANIFEST
from projects.models import Project
from tests.runapy.conftest import RunaiCaller

CLASS = "WorkloadsV2Api"
ANSWER = "WorkloadV2GetResponse"


def walk(runai: RunaiCaller, project: Project) -> None:
    """Make all of these calls."""
    metadata = models.WorkloadV2MetadataCreateParams(
        project_id=str(project.pk), cluster_id=str(project.cluster_id), category="Nightly"
    )
    request = models.WorkloadV2CreateRequest(metadata=metadata, manifest=MANIFEST)
    made = runai(f"{CLASS}.create_workload_v2", request, takes=ANSWER)["workload"]
    assert (made["metadata"]["name"], made["rawManifest"]) == ("mnist-manifest", MANIFEST)
    one = made["metadata"]["id"]
    read = runai(f"{CLASS}.get_workload_v2_by_id", one, takes=ANSWER)["workload"]
    assert read["metadata"]["gvk"] == {
        "group": "kubeflow.org",
        "version": "v1",
        "kind": "PyTorchJob",
    }
    text = b64encode(json.dumps(MANIFEST).encode()).decode()
    same = models.WorkloadV2UpdateRequest(
        metadata=models.WorkloadV2MetadataUpdateParams(category="Nightly"),
        manifest_base64_encoded=text,
    )
    runai(f"{CLASS}.update_workload_v2", one, same, takes=ANSWER)
    runai(f"{CLASS}.delete_workload_v2", one)
