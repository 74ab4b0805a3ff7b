"""Read a Workload of Kueue: what Kueue has decided about a job. Pure.

Kueue keeps a Workload for each job that it manages, and for each pod that it starts without a job.
Its conditions are those of ``apis/kueue/v1beta2/workload_types.go``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from engines.base import Manifest
from engines.kubernetes.jobs import is_suspended
from engines.kubernetes.kueue.names import JOB_UID, QUEUE_NAME
from spec.phases import Reason

DEACTIVATED = "Deactivated"  # reasons of an eviction start with it: DeactivatedDueTo… before 0.14
REACTIVATED = "Reactivated"
#: What follows when Kueue itself deactivates a Workload, in its message: "The workload is
#: deactivated due to exceeding the maximum number of re-queuing retries".
BY_KUEUE = "deactivated due to"
TOO_LONG = "maximum execution time"
#: Reasons with which Kueue notes the end of a job, in its ``apis/kueue/v1beta2/workload_types.go``.
ENDS_OF_JOBS = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True)
class QueuedJob:
    """A job as Kueue sees it: the job's Workload. ``manifest`` is that Workload."""

    manifest: Manifest

    @property
    def name(self) -> str:
        return str(self.manifest["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.manifest["metadata"]["namespace"])

    @property
    def queue(self) -> str:
        """The LocalQueue that it waits in; empty if the job names none."""
        return str(self.manifest["spec"].get("queueName") or "")

    @property
    def cluster_queue(self) -> str:
        """The ClusterQueue whose quota it has; empty while it has none."""
        admission = self._status.get("admission") or {}
        return str(admission.get("clusterQueue") or "")

    @property
    def is_active(self) -> bool:
        """Whether Kueue may start the job. Nobody but Kueue and its users sets this."""
        return self.manifest["spec"].get("active") is not False

    @property
    def is_admitted(self) -> bool:
        return self.has("Admitted")

    @property
    def has_quota(self) -> bool:
        """Whether its requests count against the quota of its ClusterQueue."""
        return self.has("QuotaReserved") and not self.is_finished

    @property
    def is_finished(self) -> bool:
        return self.has("Finished")

    @property
    def could_not_start(self) -> bool:
        """Whether Kueue ended it, and not the job. After the end of a job this says so too, and may
        be seen before the end itself: each kind of object has a watch of its own."""
        return self.is_finished and self.condition("Finished").get("reason") not in ENDS_OF_JOBS

    @property
    def waits_in_queue(self) -> bool:
        """Whether it is among those that wait for quota in its LocalQueue."""
        return self.is_active and bool(self.queue) and not self.has_quota and not self.is_finished

    @property
    def is_evicted(self) -> bool:
        """Whether Kueue takes its quota back, or took it and has not reserved it again."""
        return self.has("Evicted")

    @property
    def was_reactivated(self) -> bool:
        """Whether somebody activated it again after it was deactivated."""
        return self.is_active and self.condition("Requeued").get("reason") == REACTIVATED

    @property
    def admitted_at(self) -> datetime | None:
        at = self.condition("Admitted").get("lastTransitionTime") if self.is_admitted else None
        return datetime.fromisoformat(at) if at else None

    @property
    def was_evicted(self) -> bool:
        """Whether its quota was reserved again after an eviction."""
        return self.condition("Evicted").get("status") == "False"

    @property
    def starts_again(self) -> bool:
        """Whether it is admitted again after an eviction."""
        return self.is_admitted and self.was_evicted

    @property
    def changed_at(self) -> Iterator[datetime]:
        """When its conditions changed."""
        for one in self._conditions.values():
            yield datetime.fromisoformat(one["lastTransitionTime"])

    @property
    def admission_checks(self) -> list[Manifest]:
        return list(self._status.get("admissionChecks") or ())

    @property
    def requeue_state(self) -> Manifest:
        return dict(self._status.get("requeueState") or {})

    @property
    def finish_message(self) -> str:
        return str(self.condition("Finished").get("message") or "")

    @property
    def stop_by_kueue(self) -> tuple[Reason, str]:
        """Why Kueue itself stopped it for good; without a reason if somebody else did."""
        said = str(self.condition("Evicted").get("message") or "")
        if self.is_active or BY_KUEUE not in said:
            return Reason.NONE, ""
        reason = Reason.DEADLINE_EXCEEDED if TOO_LONG in said else Reason.REFUSED
        return reason, f"Kueue stopped it: {said.rstrip('.')}."

    def has(self, kind: str) -> bool:
        return self.condition(kind).get("status") == "True"

    def condition(self, kind: str) -> dict[str, Any]:
        """A condition by its type; empty if there is none."""
        return self._conditions.get(kind, {})

    @cached_property
    def _conditions(self) -> dict[str, dict[str, Any]]:
        return {one["type"]: one for one in self._status.get("conditions") or ()}

    @property
    def _status(self) -> Manifest:
        return dict(self.manifest.get("status") or {})


def starts_outside_queue(job: Manifest) -> bool:
    """Whether a job names a queue that Kueue does not start it from.

    Kueue suspends what it manages in the call that creates it. It only manages the kinds of job
    that its configuration lists.
    """
    is_as_created = job["metadata"].get("generation") == 1
    return is_as_created and names_queue(job) and not is_suspended(job)


def names_queue(job: Manifest) -> bool:
    """Whether a job names a LocalQueue of Kueue."""
    return QUEUE_NAME in (job["metadata"].get("labels") or {})


def owner_uids(workload: Manifest) -> Iterator[str]:
    """The jobs and pods that a Workload of Kueue is about, by their UIDs."""
    meta = workload["metadata"]
    if uid := (meta.get("labels") or {}).get(JOB_UID):
        yield str(uid)
    for owner in meta.get("ownerReferences") or ():
        yield str(owner["uid"])


def owner_names(workload: Manifest) -> Iterator[str]:
    """The names of the objects that a Workload of Kueue is about."""
    for owner in workload["metadata"].get("ownerReferences") or ():
        yield str(owner["name"])
