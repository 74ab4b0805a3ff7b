"""Read one workload from the cluster, outside a watch."""

from engines.base import EngineRefused, EngineUnavailable, Handle, Manifest
from engines.kubernetes.client.api import Api
from engines.kubernetes.cluster.discovery import existing_job_kinds
from engines.kubernetes.followers import list_followers
from engines.kubernetes.jobs import JobKind
from engines.kubernetes.kueue.causes import NOT_TAKEN_UP
from engines.kubernetes.kueue.door import Kueue
from engines.kubernetes.kueue.workload import names_queue
from engines.kubernetes.labels import PROJECT, WORKLOAD
from engines.kubernetes.names import job_name, project_namespace
from engines.kubernetes.status.job import JobView
from engines.kubernetes.status.pod import PodView
from engines.kubernetes.watch.reflector import Collection, PagedList
from engines.kubernetes.watch.snapshot import Snapshot

TRIES = 5  # to read a job and its pods consistently while somebody changes them


class Lookup:
    """``prefix`` starts the names of projects' namespaces."""

    def __init__(self, api: Api, prefix: str) -> None:
        self._api = api
        self._prefix = prefix
        self.kueue = Kueue(api)

    def namespace(self, handle: Handle) -> str:
        return project_namespace(handle.project, self._prefix)

    def path(self, kind: JobKind, handle: Handle) -> str:
        return kind.path(self.namespace(handle), job_name(handle))

    def job(self, handle: Handle) -> tuple[JobKind, Manifest] | None:
        """The job of a workload; ``None`` if there is none, or it is being deleted."""
        for kind in existing_job_kinds(self._api):
            job = self._api.find(self.path(kind, handle))
            if job and not job["metadata"].get("deletionTimestamp"):
                return kind, job
        return None

    def snapshot(self, handle: Handle) -> Snapshot | None:
        """A snapshot of job, pods and Kueue's Workloads. Pods are read first, as in a watch, so
        that its sequence compares with those of a watch.

        If the others changed meanwhile all are read again, a few times at most.
        """
        pods_path = f"/api/v1/namespaces/{self.namespace(handle)}/pods"
        snapshot = None
        for _ in range(TRIES):
            listing = PagedList(self._api, Collection(pods_path, workload_id=handle.workload_id))
            pods = list(listing)
            job = self.job(handle)
            if job is None:
                return None
            snapshot = Snapshot.read(
                *job,
                pods,
                upto=int(listing.resource_version),
                has_kueue=bool(self.kueue.version),
                queue_entries=self._queue_entries(job[1]),
                followers=list_followers(self._api, job[1]),
            )
            if snapshot.is_complete:
                break
        return snapshot

    def pods(self, handle: Handle) -> list[Manifest]:
        """The pods of a workload, ended ones included."""
        path = f"/api/v1/namespaces/{self.namespace(handle)}/pods"
        return self._api.items(path, labelSelector=f"{WORKLOAD}={handle.workload_id}")

    def queue_entries(self, handle: Handle) -> list[Manifest]:
        """Kueue's Workloads whose job has, or had, the name of this workload's."""
        try:
            return self.kueue.entries_named(self.namespace(handle), job_name(handle))
        except EngineRefused:
            return []  # we may not list them, or Kueue was just removed

    def _queue_entries(self, job: Manifest) -> list[Manifest]:
        try:
            return self.kueue.queued_jobs(job)
        except EngineRefused:
            return []  # we may not list them, or Kueue was just removed

    def view_to_stop(self, kind: JobKind, job: Manifest) -> JobView:
        """A view of a job without its pods, which says who suspends it. ``EngineUnavailable`` if
        it names a queue of Kueue and we may not read whether Kueue manages it."""
        try:
            entries = self.kueue.queued_jobs(job)
        except EngineRefused as error:
            if names_queue(job):
                raise EngineUnavailable(str(error), cause=NOT_TAKEN_UP) from error
            entries = []
        has_kueue = bool(self.kueue.version)
        return JobView.from_objects(kind, job, (), has_kueue=has_kueue, queue_entries=entries)

    def job_view(self, handle: Handle) -> JobView | None:
        snapshot = self.snapshot(handle)
        return snapshot.job_view if snapshot else None

    def restore_labels(self, kind: JobKind, before: Manifest) -> bool:
        """Put back the labels that somebody removed from the job ``before``. Without them nobody
        would notice that it still runs. Returns ``False`` if the job is gone."""
        meta = before["metadata"]
        labels = {name: meta["labels"][name] for name in (WORKLOAD, PROJECT)}
        path = kind.path(meta["namespace"], meta["name"])
        present = self._api.find(path)
        if present is None or present["metadata"]["uid"] != meta["uid"]:
            return False
        if not present["metadata"].get("deletionTimestamp"):
            self._api.merge(path, {"metadata": {"labels": labels}})
        return True

    def running_pod(self, handle: Handle, rank: int) -> PodView:
        """Return the pod in which a rank runs. ``EngineRefused`` if the rank does not run."""
        view = self.job_view(handle)
        pod = view.pods_by_slot.get(view.slots[rank]) if view and rank < len(view.slots) else None
        if pod is None or not pod.is_ready:
            raise EngineRefused("The rank is not running.")
        return pod
