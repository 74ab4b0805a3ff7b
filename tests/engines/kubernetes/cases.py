"""The launches whose manifests are in ``golden/``. Run as a program, this file writes them."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml

from engines.base import Handle, Launch, Site
from engines.kubernetes.jobs import KAI
from engines.kubernetes.manifests.job import manifests
from spec.formats import documents
from spec.framework import Framework
from spec.kind import GANG_FIELDS
from tests.engines.kubernetes.plain_yaml import Plain

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
        {"name": "WANDB_API_KEY", "value": "not to be read"},
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
    "imagePullSecrets": [{"name": "registry"}],
    "restartPolicy": "OnFailure",
    "probes": {
        "readiness": {
            "initialDelaySeconds": 5,
            "failureThreshold": 3,
            "handler": {"httpGet": {"path": "/ready", "port": 8080}},
        },
        "liveness": {"periodSeconds": 20, "handler": {"httpGet": {"port": 8080}}},
        "startup": {"failureThreshold": 30, "handler": {"httpGet": {"port": 8081}}},
    },
    "storage": {
        "pvc": [
            {
                "path": "/data",
                "claimInfo": {
                    "size": "10Gi",
                    "storageClass": "standard",
                    "accessModes": {"readWriteOnce": False, "readWriteMany": True},
                },
            },
            {"path": "/scratch", "ephemeral": True, "claimInfo": {"size": "1G"}},
            {"path": "/dev/raw0", "claimInfo": {"size": "1G", "volumeMode": "Block"}},
            {"path": "/sets", "existingPvc": True, "claimName": "sets", "readOnly": True},
            {"path": "/bound", "claimInfo": {"size": "1G", "storageClass": "runai-none"}},
        ],
        "nfs": [{"server": "nfs.example.com", "path": "/export", "mountPath": "/nfs"}],
        "hostPath": [
            {
                "path": "/opt/sets",
                "mountPath": "/host",
                "mountPropagation": "HostToContainer",
            }
        ],
        "s3": [
            {"bucket": "public", "path": "/s3/public"},
            {
                "bucket": "own",
                "path": "/s3/own",
                "url": "https://s3.example.com",
                "accessKeySecret": "s3-keys",
            },
        ],
        "git": [
            {"repository": "https://example.com/train.git", "path": "/git/public", "branch": "v2"},
            {
                "repository": "https://example.com/own.git",
                "path": "/git/own",
                "revision": "0123abc",
                "secretRef": {"name": "git-password"},
            },
            {
                "repository": "git@example.com:ssh.git",
                "path": "/git/ssh",
                "secretRef": {"name": "git-key", "authenticationMethod": "ssh-key"},
            },
        ],
        "configMapVolume": [
            {"configMap": "conf", "mountPath": "/etc/train.yaml", "subPath": "train.yaml"}
        ],
        "secretVolume": [{"secret": "certs", "mountPath": "/certs", "defaultMode": "0400"}],
        "emptyDirVolume": [{"path": "/fast", "medium": "Memory", "sizeLimit": "1Gi"}],
    },
    "nodeType": "dgx",
    "nodeAffinityRequired": {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]},
            {"matchExpressions": [{"key": "spare", "operator": "Exists"}]},
        ]
    },
    "podAffinity": {"type": "Required", "key": "rack"},
    "tolerations": [
        {"key": "gpu", "operator": "Exists"},
        {"key": "team", "value": "vision", "effect": "NoExecute", "seconds": 60},
        {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},
    ],
    "labels": [{"name": "team", "value": "vision"}],
    "annotations": [{"name": "k8s.v1.cni.cncf.io/networks", "value": "rdma-net"}],
}
MASTER = {
    "image": "registry.example.com/master:1",
    "compute": {"cpuCoreRequest": 1},
    "environmentVariables": [{"name": "PASSWORD", "value": "the master's"}],
    "storage": {"pvc": [{"path": "/models", "claimInfo": {"size": "1G"}}]},
    "podAffinity": {"type": "Preferred", "key": "rack"},
}
NOTEBOOK = {"name": "Jupyter", "toolType": "jupyter-notebook", "containerPort": 8888}
BOARD = {"name": "Board", "containerPort": 6006, "connectionType": "ClusterIP"}
PORTS = {"name": "Ports", "containerPort": 80, "connectionType": "NodePort", "nodePort": 30080}
BALANCED = {"name": "Balanced", "containerPort": 81, "connectionType": "LoadBalancer"}
ONLY = {"architecture": "workers_only"}
POOLS = {"a100": ("gpu", "a100"), "h100": ("gpu", "h100")}
SITE = Site(
    priority_classes=("high",),
    pools=POOLS,
    ingress_domain="train.example.com",
    ingress_class="nginx",
    public_url="https://trainyard.example.com",
)
WITH_KAI = Site(("default-scheduler", KAI), ("high", "low"), POOLS, semi_preemptible=True)
EVERY = {
    "numWorkers": 4,
    "worker": FULL,
    "master": MASTER,
    "backoffLimit": 0,
    "terminationGracePeriodSeconds": 0,
    "cleanPodPolicy": "None",
    "nodePools": ["h100", "default"],
    "priorityClass": "high",
    "relatedUrls": [{"url": "https://example.com/run/1", "type": "wandb"}],
}
PORTION = {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.1}
MEMORY = {"gpuDevicesRequest": 1, "gpuRequestType": "memory", "gpuMemoryRequest": "2G"}
ON_KAI = {
    "numWorkers": 2,
    "worker": SIMPLE | {"compute": PORTION},
    "master": SIMPLE | {"compute": MEMORY},
    "nodePools": ["a100"],
    "topology": {"name": "dc", "required": "rack", "preferred": "host"},
    "priorityClass": "low",
    "preemptibility": "non-preemptible",
}
ROLES = [
    SIMPLE | {"name": "client", "count": 2, "command": "ask --host server"},
    SIMPLE
    | {
        "name": "server",
        "leads": True,
        "environmentVariables": [{"name": "API_KEY", "value": "the server's"}],
        "storage": {"pvc": [{"path": "/models", "claimInfo": {"size": "1G"}}]},
        "connections": [NOTEBOOK],
    },
]
IN_QUEUE = {
    "queue": "team",
    "jobLabels": [
        {"name": "example.com/owner", "value": "ada"},
        {"name": "kueue.x-k8s.io/priority-class", "value": "urgent"},
    ],
    "jobAnnotations": [{"name": "example.com/note", "value": "of the job, not of its pods"}],
}
MPI = {
    "distributedFramework": "MPI",
    "slotsPerWorker": 2,
    "sshAuthMountPath": "/home/mpi/.ssh",
    "mpiLauncherCreationPolicy": "WaitForWorkersReady",
}


def without_gang(document: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that a workload of one pod has, too."""
    return {name: value for name, value in document.items() if name not in GANG_FIELDS}


CASES: dict[str, dict[str, Any]] = {
    "pytorch": {"distributedFramework": "PyTorch", "numWorkers": 2},
    "pytorch-workers-only": {"distributedFramework": "PyTorch", "numWorkers": 3, **ONLY},
    "pytorch-processes": {"distributedFramework": "PyTorch", "processesPerPod": 4, **ONLY},
    "pytorch-every-option": {"distributedFramework": "PyTorch", **EVERY},
    "pytorch-elastic": {
        "distributedFramework": "PyTorch",
        "numWorkers": 2,
        "minReplicas": 1,
        "maxReplicas": 4,
        **ONLY,
    },
    "pytorch-kai": {"distributedFramework": "PyTorch", **ON_KAI},
    "pytorch-elastic-kai": {
        "distributedFramework": "PyTorch",
        "numWorkers": 4,
        "minReplicas": 2,
        "preemptibility": "semi-preemptible",
        **ONLY,
    },
    "pytorch-kueue": {"distributedFramework": "PyTorch", "numWorkers": 2, **IN_QUEUE},
    "tensorflow": {"distributedFramework": "TF", "numWorkers": 2},
    "tensorflow-workers-only": {"distributedFramework": "TF", "numWorkers": 2, **ONLY},
    "tensorflow-every-option": {"distributedFramework": "TF", **EVERY},
    "tensorflow-kai": {"distributedFramework": "TF", **ON_KAI},
    "xgboost": {"distributedFramework": "XGBoost", "numWorkers": 2},
    "xgboost-every-option": {"distributedFramework": "XGBoost", **EVERY},
    "xgboost-kai": {"distributedFramework": "XGBoost", **ON_KAI},
    "mpi": {"distributedFramework": "MPI", "numWorkers": 2},
    "mpi-every-option": {**EVERY, **MPI},
    "mpi-kai": {**ON_KAI, **MPI, "master": None},
    "pytorch-tools": {
        "distributedFramework": "PyTorch",
        "worker": SIMPLE | {"connections": [NOTEBOOK, BOARD]},
        "master": SIMPLE | {"connections": [PORTS]},
    },
    "mpi-tools": {
        "distributedFramework": "MPI",
        "worker": SIMPLE | {"connections": [NOTEBOOK, BALANCED]},
    },
    "jax-workers-only": {"distributedFramework": "JAX", "numWorkers": 2, **ONLY},
    "jax-every-option": {"distributedFramework": "JAX", **EVERY, **ONLY, "master": None},
    "jax-kai": {"distributedFramework": "JAX", **ON_KAI, **ONLY, "master": None},
    "jobs-pytorch": {"distributedFramework": "PyTorch", "numWorkers": 2},
    "jobs-pytorch-workers-only": {"distributedFramework": "PyTorch", "numWorkers": 3, **ONLY},
    "jobs-pytorch-every-option": {
        **EVERY,
        "distributedFramework": "PyTorch",
        "numWorkers": 1,
        "cleanPodPolicy": "Running",
    },
    "jobs-pytorch-kueue": {"distributedFramework": "PyTorch", "numWorkers": 2, **IN_QUEUE},
    "jobs-roles": {"roles": ROLES, "ignoreNonLeadStatus": True},
    "jobs-roles-pytorch": {"roles": ROLES, "distributedFramework": "PyTorch", "barrier": False},
    "jobs-roles-tensorflow": {
        "roles": [
            SIMPLE | {"name": "chief", "leads": True},
            SIMPLE | {"name": "ps", "count": 2},
            SIMPLE | {"name": "evaluator"},
        ],
        "distributedFramework": "TF",
    },
    "jobs-pytorch-kai": {"distributedFramework": "PyTorch", "numWorkers": 2},
    "jobs-roles-kai": {
        "roles": [
            SIMPLE | {"name": "server", "leads": True},
            SIMPLE | {"name": "client", "count": 2},
        ],
    },
    "training": {"kind": "training"},
    "training-every-option": {**without_gang(EVERY), "kind": "training"},
    "training-kai": {**without_gang(ON_KAI), "kind": "training"},
    "training-once": {"kind": "training", "backoffLimit": 0, "processesPerPod": 2},
    "training-kueue": {"kind": "training", **IN_QUEUE},
    "training-tools": {"kind": "training", "worker": SIMPLE | {"connections": [NOTEBOOK]}},
}


def case(name: str) -> Launch:
    handle = Handle(WORKLOAD, "mnist", "team-a")
    usual = {} if "roles" in CASES[name] else {"worker": SIMPLE}
    spec = documents.load_spec(usual | CASES[name])
    site = WITH_KAI if name.endswith("-kai") else SITE
    plain = frozenset({Framework.PYTORCH} if name.startswith("jobs-") else ())
    found = replace(site, kueue=name.endswith("-kueue"), plain_frameworks=plain)
    return Launch(handle, 1, spec, submitted_by="ada", site=found)


def text(name: str) -> str:
    made = manifests(case(name), prefix="trainyard-")
    return str(yaml.dump_all(made, Dumper=Plain, sort_keys=False, width=100))


if __name__ == "__main__":
    for each in CASES:
        (GOLDEN / f"{each}.yaml").write_text(text(each))
