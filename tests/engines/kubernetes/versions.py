"""One job and its pod, in any number of versions."""

from copy import deepcopy
from typing import Any
from uuid import UUID, uuid4

from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.labels import REPLICA_INDEX, REPLICA_TYPE, RUN, WORKLOAD
from engines.kubernetes.watch.reflector import Collection

AT = "2026-01-01T00:00:00Z"
JOB: dict[str, Any] = {
    "metadata": {
        "labels": {WORKLOAD: str(uuid4())},
        "annotations": {RUN: "1"},
        "creationTimestamp": AT,
        "uid": "job",
    },
    "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 1}}},
}
RUNNING = {"name": "pytorch", "state": {"running": {"startedAt": AT}}, "ready": True}


def job(version: int) -> dict[str, Any]:
    made = deepcopy(JOB)
    made["metadata"]["resourceVersion"] = str(version)
    return made


def pod(version: int, *, runs: bool = False) -> dict[str, Any]:
    meta = {
        "name": "a-worker-0",
        "uid": "a-worker-0",
        "labels": {REPLICA_TYPE: "worker", REPLICA_INDEX: "0"},
        "creationTimestamp": AT,
        "resourceVersion": str(version),
    }
    status = {"phase": "Running", "containerStatuses": [RUNNING]} if runs else {}
    return {"metadata": meta, "spec": {"nodeName": "n1"}, "status": status}


UID = UUID(JOB["metadata"]["labels"][WORKLOAD])
JOBS = Collection(PYTORCH.cluster_path, PYTORCH)
