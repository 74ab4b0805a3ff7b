"""Everything in a manifest that no workload has is named by its place."""

from typing import Any

import pytest

from spec.imports.manifest.jobs import import_manifest
from tests.spec.imports.jobs import CONTAINER, POD, changed, of_pods

WORKERS = "spec.pytorchReplicaSpecs.Worker"
GPU = "nvidia.com/gpu"
CONTAINERS = "spec.pytorchReplicaSpecs.Worker.template.spec.containers.0"


def faults(manifest: dict[str, Any]) -> dict[str, str]:
    return {fault.path: fault.text for fault in import_manifest(manifest).faults}


@pytest.mark.parametrize(
    ("manifest", "path", "text"),
    [
        (changed({"team": 1}, "metadata", "labels"), "metadata.labels.team", "must be a text"),
        (changed("yes", "spec", "runPolicy", "suspend"), "spec.runPolicy.suspend", "true or false"),
        (changed("few", "spec", "nprocPerNode"), "spec.nprocPerNode", "auto, gpu or a number"),
        (
            changed(2, "spec", "pytorchReplicaSpecs", "Master", "replicas"),
            "spec.pytorchReplicaSpecs.Master.replicas",
            "must be 1",
        ),
        (
            changed({}, "spec", "pytorchReplicaSpecs", "Evaluator", "replicas"),
            "spec.pytorchReplicaSpecs.Evaluator",
            "no counterpart",
        ),
        (
            of_pods([{"name": "init", "image": "a"}], "spec", "initContainers"),
            f"{WORKERS}.template.spec.initContainers",
            "no counterpart",
        ),
        (
            of_pods([CONTAINER, {"name": "beside"}], "spec", "containers"),
            f"{WORKERS}.template.spec.containers.1",
            "one container",
        ),
        (
            of_pods([{"name": "x", "csi": {"driver": "d"}}], "spec", "volumes"),
            f"{WORKERS}.template.spec.volumes.0.name",
            "mounted nowhere",
        ),
        (changed("²", "spec", "nprocPerNode"), "spec.nprocPerNode", "auto, gpu or a number"),
        (changed("9" * 5000, "spec", "nprocPerNode"), "spec.nprocPerNode", "gpu or a number"),
        (
            of_pods({"requests": {GPU: "²"}}, "spec", "containers", 0, "resources"),
            f"{CONTAINERS}.resources.requests.{GPU}",
            "not a number of GPUs",
        ),
        (changed("a" * 254, "metadata", "name"), "metadata.name", "longer than 253 characters"),
        (
            changed(5, "spec", "elasticPolicy", "maxRestarts"),
            "spec.elasticPolicy.maxRestarts",
            "must be as runPolicy.backoffLimit, 3",
        ),
        (
            changed(
                {"spec": {**POD["spec"], "terminationGracePeriodSeconds": 90}},
                *("spec", "pytorchReplicaSpecs", "Master", "template"),
            ),
            "spec.pytorchReplicaSpecs.Master.template.spec.terminationGracePeriodSeconds",
            "must be 60, as elsewhere in the manifest",
        ),
        (of_pods(7, "spec", "containers", 0, "image"), f"{CONTAINERS}.image", "must be a text"),
        (
            of_pods({"requests": {"cpu": "many"}}, "spec", "containers", 0, "resources"),
            f"{CONTAINERS}.resources.requests.cpu",
            "not a number of cores",
        ),
        (
            of_pods({"privileged": True}, "spec", "containers", 0, "securityContext"),
            f"{CONTAINERS}.securityContext.privileged",
            "only be false",
        ),
        (
            of_pods({"exec": {"command": ["a"]}}, "spec", "containers", 0, "readinessProbe"),
            f"{CONTAINERS}.readinessProbe.exec",
            "no counterpart",
        ),
        (
            of_pods([{"name": "x", "mountPath": "/x"}], "spec", "containers", 0, "volumeMounts"),
            f"{CONTAINERS}.volumeMounts.0.name",
            "no volume has the name 'x'",
        ),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
def test_all_that_no_workload_has_is_named_by_its_place(
    manifest: dict[str, Any], path: str, text: str
) -> None:
    assert text in faults(manifest)[path]


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ({}, "is required; Trainyard takes"),
        ({"kind": "Deployment"}, "Deployment without an apiVersion cannot be run"),
        ({"kind": "Deployment", "apiVersion": "apps/v1"}, "Deployment of apps/v1 cannot be run"),
    ],
)
def test_a_manifest_of_no_job_says_what_it_lacks(manifest: dict[str, str], said: str) -> None:
    (fault,) = import_manifest(manifest).faults
    assert fault.path == "kind"
    assert fault.text.startswith(said)
