"""A manifest of Kubernetes becomes a workload, and everything that no workload has is named."""

from copy import deepcopy
from typing import Any

import pytest

from spec.formats import documents
from spec.imports.manifest.jobs import imported
from spec.kind import WorkloadKind

CONTAINER: dict[str, Any] = {
    "name": "pytorch",
    "image": "train:2",
    "command": ["torchrun", "train.py"],
    "args": ["--name", "two words"],
    "env": [
        {"name": "EPOCHS", "value": "10"},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}},
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    ],
    "ports": [{"name": "pytorchjob-port", "containerPort": 23456}],
    "resources": {
        "requests": {"cpu": "500m", "memory": "2Gi"},
        "limits": {"cpu": 4, "nvidia.com/gpu": 2, "rdma/rdma": "1"},
    },
    "volumeMounts": [
        {"name": "data", "mountPath": "/data", "readOnly": True},
        {"name": "shm", "mountPath": "/dev/shm"},
        {"name": "certificates", "mountPath": "/certs", "readOnly": True},
    ],
}
POD: dict[str, Any] = {
    "metadata": {"labels": {"team": "vision"}, "creationTimestamp": None},
    "spec": {
        "containers": [CONTAINER],
        "volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": "sets"}},
            {"name": "shm", "emptyDir": {"medium": "Memory"}},
            {"name": "certificates", "secret": {"secretName": "certs", "defaultMode": 256}},
        ],
        "nodeSelector": {"zone": "a"},
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "terminationGracePeriodSeconds": 60,
        "schedulerName": "runai-scheduler",
    },
}
JOB: dict[str, Any] = {
    "apiVersion": "kubeflow.org/v1",
    "kind": "PyTorchJob",
    "metadata": {"name": "mnist", "namespace": "runai-vision"},
    "spec": {
        "nprocPerNode": "2",
        "runPolicy": {"cleanPodPolicy": "None", "backoffLimit": 3, "activeDeadlineSeconds": 3600},
        "pytorchReplicaSpecs": {
            "Master": {"replicas": 1, "restartPolicy": "OnFailure", "template": POD},
            "Worker": {"replicas": 3, "restartPolicy": "OnFailure", "template": POD},
        },
    },
}
WORKER = JOB["spec"]["pytorchReplicaSpecs"]["Worker"]


def changed(value: Any, *path: str | int, of: dict[str, Any] = JOB) -> dict[str, Any]:
    """The same manifest, but for what stands at ``path``."""
    manifest = deepcopy(of)
    at: Any = manifest
    for step in path[:-1]:
        at = at[step] if isinstance(at, list) else at.setdefault(step, {})
    at[path[-1]] = value
    return manifest


def of_pods(value: Any, *path: str | int) -> dict[str, Any]:
    """The same with another template of the workers."""
    return changed(value, "spec", "pytorchReplicaSpecs", "Worker", "template", *path)


def faults(manifest: dict[str, Any]) -> dict[str, str]:
    return {fault.path: fault.text for fault in imported(manifest).faults}


def test_a_job_of_the_training_operator_becomes_a_gang() -> None:
    job = imported(JOB)
    assert job.faults == []
    assert (job.kind, job.name, job.namespace) == ("distributed", "mnist", "runai-vision")
    assert (job.master, job.no_master) == (None, False)  # whose template is the workers'
    assert job.spec == {
        "distributedFramework": "PyTorch",
        "numWorkers": 3,
        "processesPerPod": 2,
        "cleanPodPolicy": "None",
        "backoffLimit": 3,
        "timeLimitSeconds": 3600,
        "terminationGracePeriodSeconds": 60,
        "image": "train:2",
        "command": "torchrun train.py",
        "args": "--name 'two words'",
        "restartPolicy": "OnFailure",
        "environmentVariables": [
            {"name": "EPOCHS", "value": "10"},
            {"name": "TOKEN", "secret": {"name": "hub", "key": "token"}},
            {"name": "NODE", "podFieldRef": {"path": "spec.nodeName"}},
        ],
        "compute": {
            "cpuCoreRequest": 0.5,
            "cpuCoreLimit": 4,
            "cpuMemoryRequest": "2Gi",
            "gpuDevicesRequest": 2,
            "extendedResources": [{"resource": "rdma/rdma", "quantity": "1"}],
            "largeShmRequest": True,
        },
        "storage": {
            "pvc": [{"existingPvc": True, "claimName": "sets", "path": "/data", "readOnly": True}],
            "secretVolume": [{"secret": "certs", "mountPath": "/certs", "defaultMode": "0400"}],
        },
        "labels": [{"name": "team", "value": "vision"}],
        "nodeAffinityRequired": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
            ]
        },
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
    }
    documents.load(documents.from_wire(job.spec, no_master=False, master=None))


def test_a_master_of_its_own_and_workers_without_one_are_told_apart() -> None:
    other = imported(
        changed(
            {"spec": {"containers": [{"image": "lead:1"}]}},
            "spec",
            "pytorchReplicaSpecs",
            "Master",
            "template",
        )
    )
    assert other.master == {"image": "lead:1", "restartPolicy": "OnFailure"}
    only = imported(changed({"Worker": WORKER}, "spec", "pytorchReplicaSpecs"))
    assert (only.no_master, only.master, only.faults) == (True, None, [])


def test_a_job_of_mpi_has_a_launcher_that_runs_the_program() -> None:
    launcher = {
        "spec": {"containers": [{"image": "mpi:1", "command": ["mpirun", "python", "t.py"]}]}
    }
    worker = {"spec": {"containers": [{"image": "mpi:1"}]}}
    job = imported(
        {
            "apiVersion": "kubeflow.org/v2beta1",
            "kind": "MPIJob",
            "metadata": {"name": "allreduce"},
            "spec": {
                "slotsPerWorker": 2,
                "mpiReplicaSpecs": {
                    "Launcher": {"replicas": 1, "template": launcher},
                    "Worker": {"replicas": 4, "template": worker},
                },
            },
        }
    )
    assert job.faults == []
    assert job.master == {"image": "mpi:1", "command": "mpirun python t.py"}
    assert (job.spec["numWorkers"], job.spec["slotsPerWorker"]) == (4, 2)


@pytest.mark.parametrize(
    "job",
    [
        {"apiVersion": "batch/v1", "kind": "Job", "spec": {"backoffLimit": 3, "template": POD}},
        changed({"Master": WORKER | {"replicas": 1}}, "spec", "pytorchReplicaSpecs"),
    ],
    ids=["of Kubernetes", "a master alone"],
)
def test_a_job_of_one_pod_becomes_a_standard_training(job: dict[str, Any]) -> None:
    alone = imported(job)
    assert (alone.kind, alone.faults) == (WorkloadKind.TRAINING, [])
    assert (alone.spec["backoffLimit"], alone.spec["image"]) == (3, "train:2")
    documents.load(
        {"kind": "training"} | documents.one_pod_from_wire(alone.spec, WorkloadKind.TRAINING)
    )


def test_a_part_of_a_gpu_is_read_where_the_scheduler_reads_it() -> None:
    shared = imported(of_pods({"gpu-fraction": "0.5"}, "metadata", "annotations"))
    assert shared.spec["compute"]["gpuRequestType"] == "portion"
    assert shared.spec["compute"]["gpuPortionRequest"] == 0.5
    assert "annotations" not in shared.spec


@pytest.mark.parametrize(
    ("manifest", "at"),
    [
        ({"apiVersion": "apps/v1", "kind": "Deployment"}, "kind"),
        ({"kind": "PyTorchJob", "apiVersion": "kubeflow.org/v9"}, "apiVersion"),
        ({}, "kind"),
    ],
)
def test_a_kind_that_is_none_of_ours_is_refused_with_those_that_are(
    manifest: dict[str, Any], at: str
) -> None:
    (fault,) = imported(manifest).faults
    assert fault.path == at
    assert "PyTorchJob, TFJob, XGBoostJob, JAXJob, MPIJob of kubeflow.org" in fault.text


WORKERS = "spec.pytorchReplicaSpecs.Worker"
CONTAINERS = "spec.pytorchReplicaSpecs.Worker.template.spec.containers.0"


@pytest.mark.parametrize(
    ("manifest", "path", "text"),
    [
        (changed({"team": "a"}, "metadata", "labels"), "metadata.labels", "template of the pods"),
        (changed(True, "spec", "runPolicy", "suspend"), "spec.runPolicy.suspend", "only be false"),
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
            "there is no volume 'x'",
        ),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
def test_all_that_no_workload_has_is_named_by_its_place(
    manifest: dict[str, Any], path: str, text: str
) -> None:
    assert text in faults(manifest)[path]
