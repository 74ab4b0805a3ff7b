"""Read the conditions and times in an object's status."""

from datetime import datetime
from functools import partial
from typing import Any

from engines.base import Manifest
from engines.kubernetes import jobs


def condition(status: Manifest, kind: str) -> dict[str, Any]:
    """A condition by its type; empty if there is none."""
    conditions = status.get("conditions") or []
    return next((one for one in conditions if one["type"] == kind), {})


def has_condition(status: Manifest, kind: str) -> bool:
    return condition(status, kind).get("status") == "True"


def is_completed(status: Manifest) -> bool:
    """Whether a job completed, in the operators' words or Kubernetes', which first decides that and
    then removes the pods that still run."""
    return any(map(partial(has_condition, status), ("Succeeded", "Complete", "SuccessCriteriaMet")))


def parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def run_start(job: Manifest) -> datetime:
    """When the present run began, as far as the cluster tells runs apart."""
    resumed = condition(job.get("status") or {}, "Suspended")
    return parse_time(resumed.get("lastTransitionTime") or job["metadata"]["creationTimestamp"])


def was_resumed(job: Manifest) -> bool:
    """Whether the job was resumed after a suspension."""
    status = job.get("status") or {}
    if jobs.is_suspended(job) or is_completed(status) or has_condition(status, "Failed"):
        return False
    return condition(status, "Suspended").get("status") == "False"
