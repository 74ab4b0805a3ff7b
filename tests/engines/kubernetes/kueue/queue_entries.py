"""Kueue's Workloads, and jobs that belong to Kueue, as a cluster shows them."""

from typing import Any
from uuid import UUID

from engines.base import Manifest
from engines.kubernetes.jobs import PLAIN_JOB, PYTORCH, JobKind
from engines.kubernetes.kueue.names import JOB_UID, QUEUE_NAME
from engines.kubernetes.labels import RUN, WORKLOAD

AT = "2026-01-01T00:00:00Z"
LATER = "2026-01-01T00:01:00Z"
UID = UUID("8f14e45f-ceea-467f-a8b2-5f8d3c1c9e10")
PREEMPTED = (
    "Preempted to accommodate a workload (UID: 5d3c, JobUID: 77aa) due to prioritization in the "
    "ClusterQueue; preemptor path: /cq; preemptee path: /cq"
)
LACKING = (
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in "
    "flavor default, 2 more needed"
)


def condition(kind: str, *, true: bool, reason: str = "", message: str = "") -> Manifest:
    return {
        "type": kind,
        "status": str(true),
        "reason": reason,
        "message": message,
        "lastTransitionTime": AT,
    }


RESERVED = condition("QuotaReserved", true=True, reason="QuotaReserved")
ADMITTED = condition("Admitted", true=True, reason="Admitted")
WAITS = condition("QuotaReserved", true=False, reason="Pending", message=LACKING)
DEACTIVATED = condition(
    "Evicted", true=True, reason="Deactivated", message="The workload is deactivated"
)


def evicted(reason: str, message: str) -> Manifest:
    return condition("Evicted", true=True, reason=reason, message=message)


def entry(
    *conditions: Manifest,
    queue: str = "team",
    active: bool = True,
    job: str = "job",
    version: int = 30,
    **status: Any,
) -> Manifest:
    """Return Kueue's Workload of a job."""
    return {
        "metadata": {
            "name": f"job-demo-{job}",
            "namespace": "team-a",
            "uid": f"entry-{job}",
            "labels": {JOB_UID: job},
            "resourceVersion": str(version),
            "creationTimestamp": AT,
        },
        "spec": {"queueName": queue, "active": active},
        "status": {"conditions": list(conditions), **status},
    }


def admitted(*also: Manifest) -> Manifest:
    return entry(RESERVED, ADMITTED, *also, admission={"clusterQueue": "cq"})


def job(kind: JobKind = PYTORCH, *, suspend: bool, queue: str = "team", **also: Any) -> Manifest:
    """Return a job with one worker."""
    annotations = {RUN: "1"} | also.pop("annotations", {})
    if kind is PLAIN_JOB:
        spec = {"suspend": suspend, "parallelism": 1, "completions": 1} | also.pop("spec", {})
    else:
        spec = {"runPolicy": {"suspend": suspend}, kind.replicas: {"Worker": {"replicas": 1}}}
    return {
        "metadata": {
            "uid": "job",
            "name": "demo",
            "namespace": "team-a",
            "labels": {WORKLOAD: str(UID)} | ({QUEUE_NAME: queue} if queue else {}),
            "annotations": annotations,
            "resourceVersion": "10",
            "creationTimestamp": AT,
        },
        "spec": spec,
        "status": also.pop("status", {}),
    }
