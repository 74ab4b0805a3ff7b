"""Pods that are preempted, and what kube-scheduler and KAI report about them."""

from datetime import timedelta
from typing import Any

from engines.base import Observation
from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.labels import RUN, WORKLOAD
from engines.kubernetes.status.job import JobView
from tests.engines.kubernetes.objects import START

ID = "5c6f8f9e-5f6c-4c62-9f5e-0f3ab2f9d001"
KAI_SAID = "Pod team-a/demo-worker-0 was preempted by higher priority workload team-b/pg-urgent-1"


def at(second: float) -> str:
    """Return a moment, in seconds since the start."""
    return (START + timedelta(seconds=second)).isoformat()


def event(said: str, *, uid: str = "", second: float = 10) -> dict[str, Any]:
    """Return an event of kube-scheduler about the pod ``uid``, or else of KAI about the group."""
    kind, name = ("Pod", "demo-worker-0") if uid else ("PodGroup", "pg-demo")
    return {
        "reason": "Preempted" if uid else "Evict",
        "type": "Normal",
        "message": said,
        "involvedObject": {
            "kind": kind,
            "name": name,
            "uid": uid or "group",
            "namespace": "team-a",
        },
        "metadata": {"uid": f"event-{second}"},
        "lastTimestamp": at(second),
    }


def look(
    *pods: dict[str, Any],
    events: list[dict[str, Any]],
    true: str = "",
    resumed: float | None = None,
) -> Observation:
    """Return the observation of a job with these pods. ``resumed`` is the second when it was
    resumed."""
    conditions = [{"type": true, "status": "True", "lastTransitionTime": at(20)}] if true else []
    if resumed is not None:
        state = {"status": "False", "lastTransitionTime": at(resumed)}
        conditions.append({"type": "Suspended", **state})
    meta = {
        "uid": "job",
        "labels": {WORKLOAD: ID},
        "annotations": {RUN: "1"},
        "resourceVersion": "10",
        "creationTimestamp": at(0),
    }
    replicas = {"Master": {"replicas": 1}, "Worker": {"replicas": 1}}
    job = {
        "metadata": meta,
        "spec": {"pytorchReplicaSpecs": replicas},
        "status": {"conditions": conditions},
    }
    return JobView.from_objects(PYTORCH, job, pods, warnings=events).observation()
