"""The Kubernetes engine: gangs run as jobs of Kubeflow's operators or as plain Jobs, single pods as
Jobs."""

import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from uuid import UUID

from engines.base import (
    Capabilities,
    ClusterEvent,
    EngineUnavailable,
    Handle,
    Launch,
    Manifest,
    Observation,
    UsageSample,
)
from engines.findings import Finding
from engines.kubernetes import objects
from engines.kubernetes.client.api import Api, Conflict, NotFound
from engines.kubernetes.client.exec import PodSession
from engines.kubernetes.client.portforward import forward
from engines.kubernetes.cluster import checks, discovery, queues
from engines.kubernetes.cluster.nodes import Inventory
from engines.kubernetes.cluster.prefix import PrefixGuard
from engines.kubernetes.cluster.usage import UsageReader
from engines.kubernetes.followers import suspend_followers
from engines.kubernetes.gang_keeper import GangKeeper
from engines.kubernetes.hopeless import HopelessJobs
from engines.kubernetes.jobs import JobKind
from engines.kubernetes.keeper import FollowerKeeper
from engines.kubernetes.kueue.causes import ENDING, still_counted
from engines.kubernetes.kueue.workload import QueuedJob, names_queue
from engines.kubernetes.labels import is_our_job, run_number
from engines.kubernetes.logs.streams import STREAMS, LogStreams
from engines.kubernetes.manifests import unsupported
from engines.kubernetes.manifests.job import IMAGES, manifests, mask_secrets
from engines.kubernetes.manifests.pod.fetchers import Images
from engines.kubernetes.manifests.tools import tool_object_name
from engines.kubernetes.names import job_name
from engines.kubernetes.status.causes.known_nodes import with_known_nodes
from engines.kubernetes.status.take_back import PATIENCE_SECONDS
from engines.kubernetes.submission import Submitter
from engines.kubernetes.watch.lookup import Lookup
from engines.kubernetes.watch.memory import Memory
from engines.kubernetes.watch.snapshot import Snapshot
from engines.kubernetes.watch.watcher import Watcher
from engines.logs import Log, LogChunk
from engines.nodes import NodeInfo
from engines.queues import Wanted
from engines.session import Session
from spec.phases import TERMINAL
from spec.tools import Tool

DEFAULT_PREFIX = "trainyard-"
TRIES = 5  # to change a job that somebody else changes at the same time


class KubernetesEngine:
    """An engine for one cluster. It caches what it last saw and owns no state, so any number of
    processes can use one cluster.

    Each project has a namespace named ``prefix`` plus the project's name. It is labelled with our
    ``installation``, because another Trainyard may use the same cluster. ``images`` are those that
    fetch data; ``prometheus`` is the address of a server with GPU metrics, if there is one. Gangs
    that are placed in part for longer than ``patience`` give their nodes back.
    """

    def __init__(
        self,
        api: Api,
        *,
        prefix: str = DEFAULT_PREFIX,
        installation: str = "",
        images: Images = IMAGES,
        prometheus: str = "",
        log_streams: int = STREAMS,
        patience: timedelta = timedelta(seconds=PATIENCE_SECONDS),
    ) -> None:
        self._api = api
        self._prefix = prefix
        self._images = images
        self._installation = installation
        self._usage = UsageReader(api, prefix=prefix, prometheus=prometheus)
        self._streams = LogStreams(api, streams=log_streams, on_end=self._wake)
        self._inventory = Inventory(api, self._watched_pods)
        self._lookup = Lookup(api, prefix)
        self._guard = PrefixGuard(api, prefix, installation)
        self._submitter = Submitter(api, self._lookup, self._manifests, self._guard)
        self._watcher: Watcher | None = None
        self._memory = Memory()
        self._patience = patience

    def capabilities(self) -> Capabilities:
        return discovery.capabilities(self._api, self._prefix)

    def nodes(self) -> tuple[NodeInfo, ...]:
        return self._inventory.nodes()

    def _watched_pods(self) -> list[Manifest] | None:
        """The pods of workloads, if a watch in this process knows them."""
        watcher = self._watcher
        if watcher is None:
            return None
        snapshots = list(watcher.snapshots.values())
        pods = [pod for snapshot in snapshots for pod in list(snapshot.pods.values())]
        return pods if watcher.is_current else None

    def _wake(self) -> None:
        """Make the watch yield at once, if there is one."""
        if self._watcher:
            self._watcher.changes.wake()

    def check(self) -> tuple[Finding, ...]:
        return checks.findings(
            self._api, self._inventory, prefix=self._prefix, installation=self._installation
        )

    def keep_queues(self, wanted: Wanted) -> None:
        self._guard.check()
        queues.update_queues(self._api, self._prefix, wanted, installation=self._installation)

    def render(self, launch: Launch) -> list[Manifest]:
        return mask_secrets(self._manifests(launch))

    def _manifests(self, launch: Launch) -> list[Manifest]:
        return manifests(
            launch, prefix=self._prefix, images=self._images, installation=self._installation
        )

    complaints = staticmethod(unsupported.complaints)

    def submit(self, launch: Launch) -> None:
        """Create every object under a name derived from the workload, the job last. Called again
        after any step, it creates what is missing, and nothing twice."""
        self._submitter.submit(launch)

    def watch(self) -> Generator[Observation | None]:
        hopeless = HopelessJobs(self._api, self._lookup.kueue)
        keeper = FollowerKeeper(self._api)
        gangs = GangKeeper(self._api, self._patience)

        def on_change(uid: UUID, snapshot: Snapshot) -> None:
            if snapshot.job is None or is_our_job(self._prefix, snapshot.job, self._installation):
                self._streams.on_change(uid, snapshot)
                hopeless.on_change(uid, snapshot)
                keeper.on_change(uid, snapshot)
                gangs.on_change(uid, snapshot)

        def restore(kind: JobKind, job: Manifest) -> bool:
            ours = is_our_job(self._prefix, job, self._installation)
            return ours and self._lookup.restore_labels(kind, job)

        watcher = self._watcher = Watcher(
            self._api,
            on_change,
            nodes=self._inventory.last,
            restore=restore,
            before=self._memory.take(),
        )
        self._streams.keep_open()
        try:
            with closing(iter(watcher)) as observations:
                for observation in observations:
                    yield observation
                    if observation is None:
                        watcher.events.extend(hopeless.stop())
                        watcher.events.extend(gangs.take_turns())
                        keeper.follow()
        finally:
            if self._watcher is watcher:
                self._watcher = None
                self._streams.close_later()
                self._memory.keep(watcher.snapshots)

    def events(self) -> list[ClusterEvent]:
        events = self._watcher.events if self._watcher else ()
        return [events.popleft() for _ in range(len(events))] if events else []

    def observe(self, handle: Handle) -> Observation | None:
        snapshot = self._lookup.snapshot(handle)
        observation = snapshot.observation if snapshot else None
        if snapshot is None or observation is None:
            return None
        return with_known_nodes(observation, snapshot.pods.values(), self._inventory.last)

    def stop(self, handle: Handle, *, run: int) -> None:
        for _ in range(TRIES):
            present = self._lookup.job(handle)
            if present is None or run_number(present[1]) != run:
                return
            view = self._lookup.view_to_stop(*present)
            if view.is_managed:
                self._lookup.kueue.stop(view.queued)
            has_stopped = view.is_suspended and not view.taken_back
            if has_stopped:
                suspend_followers(self._api, present[1])
            if view.is_managed or has_stopped:
                self._remove_ephemeral_claims(handle)
                return
            if view.observation().phase in TERMINAL:
                return
            try:
                self._api.merge(self._lookup.path(view.kind, handle), view.suspension)
            except NotFound:
                return
            except Conflict:
                continue
            suspend_followers(self._api, present[1])
            self._remove_ephemeral_claims(handle)
            return
        raise EngineUnavailable(f"{handle.name} changes all the time; retrying.")

    def _remove_ephemeral_claims(self, handle: Handle) -> None:
        objects.remove_claims(self._api, handle, self._lookup.namespace(handle), ephemeral=True)

    def delete(self, handle: Handle, *, at_rest: Callable[[], None] | None = None) -> None:
        """The job is gone once its pods and services are, which may take their grace period.
        ``EngineUnavailable`` while somebody else's finalizer keeps it or one of its pods, or while
        Kueue counts its quota."""
        left = []
        for kind in discovery.existing_job_kinds(self._api):
            path = self._lookup.path(kind, handle)
            if job := self._api.delete(path, propagationPolicy="Foreground"):
                left.append(job)
        objects.remove_objects(self._api, handle, self._lookup.namespace(handle))
        for job in left:
            if names := objects.foreign_finalizers(job):
                raise objects.finalizer_error("The job", names)
        if left:
            self._check_pods_end(handle)
        self._check_queue_is_left(handle, left)

    def _check_pods_end(self, handle: Handle) -> None:
        """Raise ``EngineUnavailable`` if somebody else's finalizer keeps a pod that has ended."""
        for pod in self._lookup.pods(handle):
            names = objects.foreign_finalizers(pod)
            if names and pod["metadata"].get("deletionTimestamp"):
                raise objects.finalizer_error(f"The pod {pod['metadata']['name']}", names)

    def _check_queue_is_left(self, handle: Handle, left: Sequence[Manifest]) -> None:
        """Raise ``EngineUnavailable`` while a job of Kueue, or Kueue's Workload of it, exists."""
        if not self._lookup.kueue.version:
            return
        entries = self._lookup.queue_entries(handle)
        if left and (entries or any(map(names_queue, left))):
            raise EngineUnavailable(f"{ENDING.title}.", cause=ENDING)
        if entries:
            cause = still_counted(QueuedJob(entries[0]))
            raise EngineUnavailable(f"{cause.title}. {cause.todo}", cause=cause)

    def news(self) -> set[UUID]:
        pods = self._usage.refresh()
        uids = self._streams.news()
        if pods and self._watcher:
            uids |= {uid for uid, one in self._watcher.snapshots.items() if pods & one.pod_names}
        return uids

    def logs(self, handle: Handle, *, run: int) -> list[Log]:
        if self._watcher is None:
            self._streams.on_change(handle.workload_id, self._lookup.snapshot(handle) or Snapshot())
            self._streams.close_later()
        return self._streams.logs(handle.workload_id, run)

    def read_log(
        self, handle: Handle, log: Log, *, offset: int, cursor: str, limit: int
    ) -> LogChunk:
        return self._streams.read(handle.workload_id, log, cursor, limit)

    def exec(self, handle: Handle, *, rank: int, argv: Sequence[str]) -> Session:
        pod = self._lookup.running_pod(handle, rank)
        return PodSession(self._api, pod.path, pod.kind.container, argv)

    def address(self, handle: Handle, tool: Tool) -> str:
        host = str(self._lookup.running_pod(handle, tool.pod.rank).status.get("hostIP", ""))
        name = tool_object_name(job_name(handle), tool)
        return objects.tool_url(self._api, self._lookup.namespace(handle), name, tool, host)

    def dial(self, handle: Handle, *, rank: int, port: int) -> socket.socket:
        return forward(self._api, self._lookup.running_pod(handle, rank).path, port)

    def usage(self, handle: Handle, *, run: int, after: datetime | None) -> list[UsageSample]:
        """Only samples of workloads that a watch in this process knows: sampling is for
        what runs."""
        snapshot = self._watcher.snapshots.get(handle.workload_id) if self._watcher else None
        job = snapshot.job_view if snapshot else None
        return self._usage.read(job, after) if job and run_number(job.manifest) == run else []
