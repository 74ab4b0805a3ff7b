"""The launches whose manifests are kept in ``golden/``. Run as a program, it writes them anew."""

from pathlib import Path
from typing import Any
from uuid import UUID

import yaml

from engines.base import Handle, Launch
from engines.kubernetes.manifests import manifests
from spec import documents

GOLDEN = Path(__file__).parent / "golden"
WORKLOAD = UUID("8f14e45f-ceea-467f-a8b2-5f8d3c1c9e10")
SIMPLE = {"image": "kubeflow/pytorch-dist-mnist:latest"}
FULL = {
    "image": "registry.example.com/train:2",
    "imagePullPolicy": "Always",
    "command": "torchrun --nproc-per-node 2",
    "args": "train.py --name 'two words'",
    "workingDir": "/src",
    "createHomeDir": True,
    "environmentVariables": [
        {"name": "PLAIN", "value": "x"},
        {"name": "JOB_NAME", "value": "mine"},
        {"name": "S3_TOKEN", "secret": {"name": "bucket", "key": "token"}},
        {"name": "REGION", "configMap": {"name": "site", "key": "region"}},
        {"name": "HOST_IP", "podFieldRef": {"path": "status.hostIP"}},
    ],
    "security": {
        "uidGidSource": "custom",
        "runAsUid": 1000,
        "runAsGid": 0,
        "supplementalGroups": "10, 20",
        "runAsNonRoot": True,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": False,
        "capabilities": ["IPC_LOCK"],
        "seccompProfileType": "RuntimeDefault",
        "hostIpc": True,
    },
    "compute": {
        "gpuDevicesRequest": 2,
        "cpuCoreRequest": 0.5,
        "cpuCoreLimit": 4,
        "cpuMemoryRequest": "500Mi",
        "cpuMemoryLimit": "2G",
        "largeShmRequest": True,
        "extendedResources": [{"resource": "rdma/rdma", "quantity": "1"}],
    },
    "labels": [{"name": "team", "value": "vision"}],
    "annotations": [{"name": "k8s.v1.cni.cncf.io/networks", "value": "rdma-net"}],
}
MASTER = {"image": "registry.example.com/master:1", "compute": {"cpuCoreRequest": 1}}
ONLY = {"architecture": "workers_only"}
CASES: dict[str, dict[str, Any]] = {
    "pytorch": {"distributedFramework": "PyTorch", "numWorkers": 2},
    "pytorch-workers-only": {"distributedFramework": "PyTorch", "numWorkers": 3, **ONLY},
    "pytorch-every-option": {
        "distributedFramework": "PyTorch",
        "numWorkers": 4,
        "worker": FULL,
        "master": MASTER,
        "backoffLimit": 0,
        "terminationGracePeriodSeconds": 0,
        "cleanPodPolicy": "None",
    },
    "tensorflow": {"distributedFramework": "TF", "numWorkers": 2},
    "tensorflow-workers-only": {"distributedFramework": "TF", "numWorkers": 2, **ONLY},
    "xgboost": {"distributedFramework": "XGBoost", "numWorkers": 2},
}


def case(name: str) -> Launch:
    handle = Handle(WORKLOAD, "mnist", "team-a")
    return Launch(handle, 1, documents.load({"worker": SIMPLE} | CASES[name]), submitted_by="ada")


def text(name: str) -> str:
    return str(yaml.safe_dump_all(manifests(case(name), prefix="trainyard-"), sort_keys=False))


if __name__ == "__main__":
    for each in CASES:
        (GOLDEN / f"{each}.yaml").write_text(text(each))
