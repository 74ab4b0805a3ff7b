"""A job of the training operator as people write it, and changed copies of it."""

from copy import deepcopy
from typing import Any

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
    """Return a copy of the manifest with another value at ``path``."""
    manifest = deepcopy(of)
    at: Any = manifest
    for step in path[:-1]:
        at = at[int(step)] if isinstance(at, list) else at.setdefault(step, {})
    at[path[-1]] = value
    return manifest


def of_pods(value: Any, *path: str | int) -> dict[str, Any]:
    """Return a copy of the job with another value at ``path`` in the workers' template."""
    return changed(value, "spec", "pytorchReplicaSpecs", "Worker", "template", *path)
