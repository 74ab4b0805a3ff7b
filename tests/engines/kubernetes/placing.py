"""The pods of a gang of which some may have no node, written by hand."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from engines.kubernetes.jobs import PLAIN_JOB
from engines.kubernetes.labels import COMPLETION_INDEX, ROLES, RUN, WORKLOAD
from engines.kubernetes.status.job import JobView
from tests.engines.kubernetes.objects import START

UID = UUID(int=1)


def time_text(second: float) -> str:
    return (START + timedelta(seconds=second)).isoformat()


def later(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def rank(index: int, *, placed: float | None = None, age: float = 0, **spec: Any) -> dict[str, Any]:
    """Return the pod of a rank: with a node since the second ``placed``, or refused at once."""
    state = {
        "type": "PodScheduled",
        "lastTransitionTime": time_text(age if placed is None else placed),
    }
    if placed is None:
        state |= {
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/1 nodes are available",
        }
    else:
        state["status"] = "True"
        spec["nodeName"] = "n1"
    meta = {
        "uid": f"pod-{index}-{age}",
        "name": f"gang-{index}-{age}",
        "namespace": "team-a",
        "labels": {COMPLETION_INDEX: str(index)},
        "resourceVersion": "20",
        "creationTimestamp": time_text(age),
    }
    return {"metadata": meta, "spec": spec, "status": {"phase": "Pending", "conditions": [state]}}


def indexed_job(
    *, size: int = 3, uid: UUID = UID, created: float = 0, **spec: Any
) -> dict[str, Any]:
    """Return an Indexed Job in its first run, with these further ``notes`` and fields."""
    notes = {RUN: "1", ROLES: f"worker={size}"} | spec.pop("notes", {})
    return {
        "metadata": {
            "uid": f"job-{uid.int}",
            "name": f"gang-{uid.int}",
            "namespace": "team-a",
            "labels": {WORKLOAD: str(uid)},
            "annotations": notes,
            "resourceVersion": "10",
            "creationTimestamp": time_text(created),
        },
        "spec": spec,
    }


def view(*pods: dict[str, Any], also: Any = (), **changes: Any) -> JobView:
    """Return a view of such a Job and its pods, with events about them."""
    return JobView.from_objects(PLAIN_JOB, indexed_job(**changes), pods, warnings=also)
