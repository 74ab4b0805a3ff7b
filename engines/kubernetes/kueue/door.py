"""Ask Kueue about a job, and ask it to stop one.

What Kueue manages is Kueue's to start and to stop: of a job that belongs to it, nobody else writes
``suspend`` or ``parallelism``. A job that is suspended behind Kueue's back is resumed at once
(``pkg/controller/jobframework/reconciler.go`` of Kueue, steps 7 and 8).
"""

import time
from math import inf

from engines.base import EngineUnavailable, Manifest
from engines.kubernetes.client.api import Api, NotFound
from engines.kubernetes.kueue.causes import NOT_TAKEN_UP
from engines.kubernetes.kueue.names import JOB_UID, served_version, workloads_path
from engines.kubernetes.kueue.workload import QueuedJob, owner_names

DISCOVER_SECONDS = 30.0  # seconds between two questions whether Kueue is there


class Kueue:
    """Kueue on one cluster, where it is installed."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._version = ""
        self._discovered_at = -inf

    @property
    def version(self) -> str:
        """The version of its API; empty if the cluster has no Kueue."""
        if time.monotonic() - self._discovered_at > DISCOVER_SECONDS:
            self._version = served_version(self._api.get("/apis")["groups"])
            self._discovered_at = time.monotonic()
        return self._version

    def queued_jobs(self, job: Manifest) -> list[Manifest]:
        """Kueue's Workloads of a job; none without Kueue. ``Denied`` if we may not list them."""
        if not self.version:
            return []
        meta = job["metadata"]
        path = workloads_path(self.version, meta["namespace"])
        return self._api.items(path, labelSelector=f"{JOB_UID}={meta['uid']}")

    def entries_named(self, namespace: str, job: str) -> list[Manifest]:
        """Kueue's Workloads of every job that has, or had, this name."""
        if not self.version:
            return []
        entries = self._api.all_items(workloads_path(self.version, namespace))
        return [one for one in entries if job in owner_names(one)]

    def stop(self, queued: QueuedJob | None) -> None:
        """Have Kueue stop a job that belongs to it, and free its quota. ``EngineUnavailable`` as
        long as Kueue has not taken up the job."""
        if queued is None:
            raise EngineUnavailable(f"{NOT_TAKEN_UP.title}.", cause=NOT_TAKEN_UP)
        if not queued.is_active or queued.is_finished:
            return
        path = workloads_path(self.version, queued.namespace, queued.name)
        try:
            self._api.merge(path, {"spec": {"active": False}})
        except NotFound:
            # Kueue replaces its Workload when the job's pods change; the next call finds it.
            raise EngineUnavailable(f"{NOT_TAKEN_UP.title}.", cause=NOT_TAKEN_UP) from None
