"""Jobs, pods and events as a cluster shows them, written by hand."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from engines.base import Observation
from engines.kubernetes.jobs import PYTORCH, JobKind
from engines.kubernetes.labels import RUN, WORKLOAD
from engines.kubernetes.status.job import JobView

START = datetime(2026, 1, 1, tzinfo=UTC)
KEYS = ("uid", "name", "namespace")
RUNNING = {"state": {"running": {"startedAt": START.isoformat()}}, "ready": True}
DONE = {"state": {"terminated": {"exitCode": 0, "finishedAt": START.isoformat()}}}
FULL = "0/3 nodes are available: 2 Insufficient nvidia.com/gpu, 1 node(s) were unschedulable."
UNSCHEDULED = {"conditions": [{"type": "PodScheduled", "status": "False", "message": FULL}]}


def pod(
    role: str, index: int, *, phase: str = "Running", age: int = 0, **also: Any
) -> dict[str, Any]:
    """Return a pod that runs on a node, with changes. ``age`` is the second of its creation."""
    container = {"name": "pytorch", "restartCount": 0} | also.pop("container", RUNNING)
    status = {"phase": phase, "containerStatuses": [container]} | also.pop("status", {})
    labels = {
        "training.kubeflow.org/replica-type": role,
        "training.kubeflow.org/replica-index": str(index),
    }
    meta = {
        "uid": f"{role}-{index}",
        "name": f"demo-{role}-{index}",
        "labels": labels,
        "resourceVersion": "20",
        "creationTimestamp": (START + timedelta(seconds=age)).isoformat(),
    }
    return {
        "metadata": meta | also.pop("metadata", {}),
        "spec": also.pop("spec", {"nodeName": "n1"}),
        "status": status,
    }


def ended(code: int, second: int, reason: str = "Error") -> dict[str, Any]:
    """Return the state of a container that ended with ``code`` at this second."""
    at = (START + timedelta(seconds=second)).isoformat()
    return {"state": {"terminated": {"exitCode": code, "finishedAt": at, "reason": reason}}}


def event(
    reason: str,
    message: str,
    *,
    about: dict[str, Any] | None = None,
    second: float = 5,
    warns: bool = True,
) -> dict[str, Any]:
    """Return an event about a pod, a claim by its name, or else the job."""
    kind = "PyTorchJob"
    meta = {"uid": "job", "name": "demo"}
    if about:
        kind = about.get("kind", "Pod")
        meta = about["metadata"]
    return {
        "metadata": {"uid": f"{reason} {meta.get('name')} {second}"},
        "involvedObject": {"kind": kind, **{key: str(meta.get(key, "")) for key in KEYS}},
        "type": "Warning" if warns else "Normal",
        "reason": reason,
        "message": message,
        "lastTimestamp": (START + timedelta(seconds=second)).isoformat(),
    }


def look(
    *pods: dict[str, Any],
    true: str = "",
    ended_at: float = 0,
    said: str = "",
    suspend: bool = False,
    events: Iterable[dict[str, Any]] = (),
    now: float | None = None,
    workers: int = 1,
    kind: JobKind = PYTORCH,
    **spec: Any,
) -> Observation:
    """Return the observation of a job with these pods. ``now`` and ``ended_at``, when the job got
    its conditions with the message ``said``, are in seconds since the start."""
    changed = (START + timedelta(seconds=ended_at)).isoformat()
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": changed, "message": said}
        for kind in ("Created", *filter(None, [true]))
    ]
    job = {
        "metadata": {
            "uid": "job",
            "labels": {WORKLOAD: str(uuid4())},
            "annotations": {RUN: "3"},
            "resourceVersion": "10",
            "creationTimestamp": START.isoformat(),
        },
        "spec": {
            "runPolicy": {"suspend": suspend},
            kind.replicas: {kind.master: {"replicas": 1}, "Worker": {"replicas": workers}},
            **spec,
        },
        "status": {"conditions": conditions},
    }
    at = None if now is None else START + timedelta(seconds=now)
    return JobView.from_objects(kind, job, pods, warnings=events, now=at).observation()


MASTER = pod("master", 0)
WORKER = pod("worker", 0)
WAITS = {"state": {"waiting": {"reason": "PodInitializing"}}}
UNREADY = pod("worker", 0, container=RUNNING | {"ready": False})  # its probe fails
STARTING = pod("worker", 0, phase="Pending", container=WAITS)
UNPLACED = pod("worker", 0, phase="Pending", container=WAITS, spec={}, status=UNSCHEDULED)
QUOTA = (
    'Error creating: pods "a-worker-0" is forbidden: exceeded quota: team, requested: '
    "requests.nvidia.com/gpu=4, used: requests.nvidia.com/gpu=6, limited: requests.nvidia.com/gpu=8"
)
