"""Follow every workload of a cluster: a list, then one watch for each kind of object."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from math import inf
from queue import Empty
from uuid import UUID

from engines.base import ClusterEvent, EngineError, EngineRefused, EngineUnavailable, Manifest
from engines.base import Observation as Observation
from engines.kubernetes.client.api import Api, Gone
from engines.kubernetes.cluster.discovery import existing_job_kinds, served_resources
from engines.kubernetes.jobs import KAI_GROUP, PLAIN_JOB, JobKind
from engines.kubernetes.kueue.names import QUEUE_NAME, served_version, workloads_path
from engines.kubernetes.kueue.places import QueuePlaces
from engines.kubernetes.kueue.workload import QueuedJob, owner_uids, starts_outside_queue
from engines.kubernetes.labels import parse_workload_id
from engines.kubernetes.ranks import is_follower
from engines.kubernetes.status.causes.known_nodes import with_known_nodes
from engines.kubernetes.status.conditions import parse_time
from engines.kubernetes.status.events import (
    EVENTS,
    SELECTOR,
    EarlyEvents,
    cluster_event,
    is_worth_telling,
    may_explain,
    name_preemptor,
    object_key,
    object_keys,
)
from engines.kubernetes.status.job import COMPLETE, FINAL_BIT, sequence
from engines.kubernetes.status.notes import memory_notes
from engines.kubernetes.status.placements import Placements, record_placements
from engines.kubernetes.watch.namespaces import Namespaces
from engines.kubernetes.watch.rechecks import RecheckSchedule
from engines.kubernetes.watch.reflector import (
    Changes,
    Collection,
    PagedList,
    Reflector,
    ServerProbe,
)
from engines.kubernetes.watch.snapshot import Snapshot, drop_heavy_fields
from engines.nodes import NodeInfo
from engines.shared.observations import is_same_state
from spec.phases import HELD_UP, Phase, RankPhase, Reason

PODS = "/api/v1/pods"
GROUPS_VERSION = f"{KAI_GROUP}/v2alpha2"
POD = Collection(PODS)
GROUP = Collection(f"/apis/{GROUPS_VERSION}/podgroups", optional=True)
EVENT = Collection(EVENTS, field_selector=SELECTOR, optional=True)
TICK_SECONDS = 0.4  # seconds after which it yields in any case
MOST_AT_ONCE = 1000  # workloads changed before they are reported
MOST_EVENTS = 5000
MOST_EARLY_ENTRIES = 500  # Workloads of Kueue whose jobs are not known, and may be others'
CURRENT_SECONDS = 15.0  # seconds after which a paused watch is out of date
HOLD_SECONDS = 20.0  # seconds that a new job is held back while there is nothing to say about it


def queue_collection(version: str) -> Collection:
    """Kueue's Workloads, in a version of its API."""
    return Collection(workloads_path(version), optional=True, is_queue=True)


OUTSIDE_QUEUE = (
    "It names the queue {queue}, but Kueue does not manage {kind}s here, so it starts outside all "
    "quotas. Kueue's configuration (integrations.frameworks) lists what it manages."
)


class Watcher:
    """Iterates over observations; ``None`` in between lets the caller do other work.

    ``snapshots`` are the latest of every workload; ``on_change`` gets each that changed, before it
    is reported. ``nodes`` returns the cluster's nodes; ``restore`` puts back a job's labels.
    ``before`` are snapshots of a watch that just ended. ``events`` queues the cluster's events.
    """

    def __init__(
        self,
        api: Api,
        on_change: Callable[[UUID, Snapshot], None],
        nodes: Callable[[], Sequence[NodeInfo]] = tuple,
        restore: Callable[[JobKind, Manifest], bool] | None = None,
        before: dict[UUID, Snapshot] | None = None,
    ) -> None:
        self._api = api
        self._on_change = on_change
        self._nodes = nodes
        self._restore = restore
        self._previous = before or {}
        self.snapshots: dict[UUID, Snapshot] = {}
        self._current_at = -inf  # when it was last up to date; not while it lists
        self._has_kueue = False
        self._places = QueuePlaces(api)
        self.events: deque[ClusterEvent] = deque(maxlen=MOST_EVENTS)
        self._owners: dict[str, UUID] = {}
        self._early_events = EarlyEvents()
        self._early_entries: OrderedDict[str, Manifest] = OrderedDict()  # by uid of their job
        self._last_reported: dict[UUID, Observation] = {}
        self.hold_until: dict[UUID, float] = {}
        self._rechecks = RecheckSchedule()
        self._namespaces = Namespaces(api)
        self._placements: Placements = {}
        self.changes = Changes()

    def __iter__(self) -> Generator[Observation | None]:
        while True:
            changes = self.changes = Changes()
            collections = self._collections()
            try:
                reflectors = self.list_all(collections, changes)
            except Gone:
                continue  # listing took longer than the server remembers
            others = partial(self._has_other_kinds, collections)
            probe = ServerProbe(self._api, changes=changes, others=others)
            try:
                yield from self._report_changes(list(self.snapshots))
                yield None
                for thread in (*reflectors, probe):
                    thread.start()
                yield from self._follow(changes)
            finally:
                for thread in (*reflectors, probe):
                    thread.close()

    def _collections(self) -> list[Collection]:
        """Pods come first: that a job is newer than its pods is true of every later read, too."""
        jobs = [Collection(kind.cluster_path, kind) for kind in existing_job_kinds(self._api)]
        groups = [GROUP] if "podgroups" in served_resources(self._api, GROUPS_VERSION) else []
        version = served_version(self._api.get("/apis")["groups"])
        queue = [queue_collection(version)] if version else []
        return [POD, *jobs, *queue, *groups, EVENT]

    def list_all(self, collections: list[Collection], changes: Changes) -> list[Reflector]:
        """List all collections into snapshots; returns the reflectors that continue from there."""
        self._current_at = -inf
        self._has_kueue = any(collection.is_queue for collection in collections)
        before = self.snapshots
        self.snapshots = {}
        reflectors = []
        upto = 0
        for collection in collections:
            listing = PagedList(self._api, collection)
            try:
                for item in listing:
                    self.take_change(collection, "ADDED", item)
            except Gone:
                self.snapshots = before
                raise
            except EngineRefused:
                if not collection.optional:
                    raise
                continue
            upto = upto or int(listing.resource_version)
            reflectors.append(
                Reflector(self._api, collection, since=listing.resource_version, changes=changes)
            )
        for uid, snapshot in (self._previous | before).items():
            if uid in self.snapshots:
                self.snapshots[uid].take_over(snapshot)
            elif uid in before and snapshot.job is not None:  # deleted since the last list
                gone = Snapshot(
                    snapshot.kind, floor=upto, keys=snapshot.keys, namespace=snapshot.namespace
                )
                self.snapshots[uid] = gone
        for uid, snapshot in self.snapshots.items():
            snapshot.mark_listed(upto)
            self._on_change(uid, snapshot)
        self._previous = {}
        self._current_at = time.monotonic()
        return reflectors

    @property
    def is_current(self) -> bool:
        """Whether ``snapshots`` are complete and recent. They are not while it lists, nor in a
        watch that is paused because another process has the turns."""
        return time.monotonic() - self._current_at < CURRENT_SECONDS

    def _has_other_kinds(self, collections: list[Collection]) -> bool:
        with suppress(EngineUnavailable):  # the probe reports outages itself
            return self._collections() != collections
        return False

    def _follow(self, changes: Changes) -> Iterator[Observation | None]:
        """Report changes until the list is outdated, or the cluster serves other kinds."""
        while True:
            try:
                touched = self._drain_changes(changes)
            except Gone:
                return
            self._current_at = time.monotonic()
            ready = self.ready_workloads(touched)
            others = (*self.silent_workloads(), *self._moved_in_queue())
            yield from self._report_changes([*ready, *others])
            yield None

    def ready_workloads(self, touched: Iterable[UUID]) -> Iterator[UUID]:
        """Workloads to report now. A new job only repeats its submission, so it is held back until
        its first pod, warning or condition, or ``HOLD_SECONDS``."""
        now = time.monotonic()
        for uid in touched:
            snapshot = self.snapshots.get(uid)
            if snapshot and snapshot.has_only_job and uid not in self._last_reported:
                self.hold_until.setdefault(uid, now + HOLD_SECONDS)
            else:
                self.hold_until.pop(uid, None)
                yield uid
        while (
            self.hold_until and self.hold_until[uid := next(iter(self.hold_until))] <= now
        ):  # the first ends first
            del self.hold_until[uid]
            yield uid

    def silent_workloads(self) -> Iterator[UUID]:
        """Workloads that still do not run, and were silent for a while."""
        for uid in self._rechecks.due_workloads(time.monotonic()):
            if snapshot := self.snapshots.get(uid):
                snapshot.outdate_view()
                yield uid

    def _moved_in_queue(self) -> Iterator[UUID]:
        """Workloads whose place in their queue of Kueue has changed."""
        if not self._has_kueue or not self._places.is_due:
            return
        waiting: dict[UUID, QueuedJob] = {}
        for uid, snapshot in self.snapshots.items():
            view = snapshot.job_view
            if view and view.queued and view.queued.waits_in_queue:
                waiting[uid] = view.queued
        places = self._places.read(waiting.values())
        for uid, queued in waiting.items():
            snapshot = self.snapshots[uid]
            place = places.get((queued.namespace, queued.name), 0)
            if place != snapshot.queue_place:
                snapshot.queue_place = place
                snapshot.outdate_view()
                yield uid

    def _drain_changes(self, changes: Changes) -> list[UUID]:
        """Process the queue, and wait briefly if it is empty. Returns each workload that changed,
        once. Raises the error that ended a thread."""
        touched: dict[UUID, None] = {}
        with suppress(Empty):
            change = changes.get(timeout=TICK_SECONDS)
            while True:
                if isinstance(change, EngineError):
                    raise change
                if change is not None and (uid := self.take_change(*change)):
                    touched[uid] = None
                    self._rechecks.reset(uid)
                    self._on_change(uid, self.snapshots[uid])
                if len(touched) >= MOST_AT_ONCE:
                    break
                change = changes.get_nowait()
        return list(touched)

    def take_change(self, collection: Collection, what: str, item: Manifest) -> UUID | None:
        """Process one change. Returns the workload that it changes, if any."""
        if collection == EVENT:
            return self._take_event(item) if what != "DELETED" else None
        if collection.is_queue:
            return self._take_queue_entry(what, item)
        uid = parse_workload_id(item["metadata"].get("labels") or {})
        kind = collection.kind
        if kind is PLAIN_JOB and is_follower(item):
            return self._take_follower(what, item, uid)
        if kind is not None and self._was_relabelled(kind, what, item, uid):
            return None
        if uid is None or (kind is PLAIN_JOB and item["metadata"].get("ownerReferences")):
            return None  # the launcher of an MPIJob
        snapshot = self._snapshot_of(uid)
        if kind is not None:
            if what == "ADDED" and self._has_kueue and starts_outside_queue(item):
                self.events.append(_outside_event(uid, item))
            snapshot.take_job(kind, what, drop_heavy_fields(item))
        elif collection == GROUP:
            snapshot.take_group(what, drop_heavy_fields(item))
        else:
            snapshot.take_pod(what, drop_heavy_fields(item))
            record_placements(self._placements, [item])
        for key in object_keys(item) if kind is None else (item["metadata"]["uid"],):
            self._register_key(uid, snapshot, key)
        return uid

    def _snapshot_of(self, uid: UUID) -> Snapshot:
        snapshot = self.snapshots.get(uid)
        if snapshot is None:
            snapshot = Snapshot(has_kueue=self._has_kueue, placements=self._placements)
            self.snapshots[uid] = snapshot
        return snapshot

    def _take_follower(self, what: str, job: Manifest, uid: UUID | None) -> UUID | None:
        """Add the Job of another rank than the lead to its workload. Of a workload whose job was
        reported as deleted, only its followers are still going."""
        if uid is None or (what == "DELETED" and uid not in self.snapshots):
            return None
        snapshot = self._snapshot_of(uid)
        snapshot.take_follower(what, drop_heavy_fields(job))
        self._register_key(uid, snapshot, job["metadata"]["uid"])
        return uid

    def _was_relabelled(self, kind: JobKind, what: str, job: Manifest, uid: UUID | None) -> bool:
        """Whether somebody changed the label by which a job is found, and it was restored. A job
        that lost it looks deleted, but usually without a deletion timestamp."""
        owner = self._owners.get(job["metadata"]["uid"])
        snapshot = self.snapshots.get(owner) if owner else None
        if snapshot is None or snapshot.job is None or self._restore is None:
            return False
        left = what == "DELETED" and not job["metadata"].get("deletionTimestamp")
        if not left and uid == owner:
            return False
        with suppress(EngineError):  # then it is taken as it looks
            return self._restore(kind, snapshot.job)
        return False

    def _register_key(self, uid: UUID, snapshot: Snapshot, key: str) -> None:
        if key not in snapshot.keys:
            snapshot.keys.add(key)
            self._owners[key] = uid
            if entry := self._early_entries.pop(key, None):
                self._take_queue_entry("ADDED", entry)
            for event in self._early_events.take(key):
                self._take_event(event)

    def _take_queue_entry(self, what: str, entry: Manifest) -> UUID | None:
        """Add a Workload of Kueue to the workload whose job or pod it is about, once that is
        known. Most are about others' jobs."""
        owners = list(owner_uids(entry))
        uid = next((self._owners[owner] for owner in owners if owner in self._owners), None)
        if uid is None or uid not in self.snapshots:
            self._keep_early_entry(what, entry, owners)
            return None
        snapshot = self.snapshots[uid]
        snapshot.take_queue_entry(what, drop_heavy_fields(entry))
        self._register_key(uid, snapshot, entry["metadata"]["uid"])
        return uid

    def _keep_early_entry(self, what: str, entry: Manifest, owners: Sequence[str]) -> None:
        for owner in owners:
            self._early_entries.pop(owner, None)
            if what != "DELETED":
                self._early_entries[owner] = drop_heavy_fields(entry)
        while len(self._early_entries) > MOST_EARLY_ENTRIES:
            self._early_entries.popitem(last=False)

    def _take_event(self, event: Manifest) -> UUID | None:
        if not is_worth_telling(event):
            return None
        uid = self._owners.get(object_key(event))
        if uid is None:
            self._early_events.keep(drop_heavy_fields(event))
            return None
        event = name_preemptor(event, self._pod_name)
        self.events.append(cluster_event(event, uid))
        snapshot = self.snapshots.get(uid)
        if snapshot is None or not may_explain(event):
            return None
        snapshot.take_warning(drop_heavy_fields(event))
        return uid

    def _pod_name(self, pod_uid: str) -> str:
        """Namespace and name of a workload's pod, as in ``team-a/demo-worker-0``; empty if it is
        not known here."""
        owner = self._owners.get(pod_uid)
        snapshot = self.snapshots.get(owner) if owner else None
        metas = (pod["metadata"] for pod in snapshot.pods.values()) if snapshot else ()
        names = (f"{meta['namespace']}/{meta['name']}" for meta in metas if meta["uid"] == pod_uid)
        return next(names, "")

    def _report_changes(self, uids: Iterable[UUID]) -> Iterator[Observation]:
        """Observations that are later than the last reported one, and say something else."""
        for uid in uids:
            snapshot = self.snapshots.get(uid)
            if snapshot is None:
                continue
            if snapshot.job is None and snapshot.kind is not None:
                yield self._report_deleted(uid, snapshot)
            elif observation := snapshot.observation:
                observation = with_known_nodes(observation, snapshot.pods.values(), self._nodes)
                waits = observation.phase in HELD_UP
                self._rechecks.record_judgment(uid, waits=waits, now=time.monotonic())
                if is_news(observation, self._last_reported.get(uid)):
                    self._last_reported[uid] = observation
                    if snapshot.job_view:
                        self.events.extend(memory_notes(snapshot.job_view))
                    yield self._with_namespace(observation, snapshot.namespace)

    def _report_deleted(self, uid: UUID, snapshot: Snapshot) -> Observation:
        del self.snapshots[uid]
        self._rechecks.reset(uid)
        for key in snapshot.keys:
            if self._owners.get(key) == uid:
                del self._owners[key]
        last = self._last_reported.pop(uid, None)
        run = last.run if last else 1
        is_ending = self._namespaces.is_ending(snapshot.namespace)
        why = _namespace_words(snapshot.namespace) if is_ending else ""
        order = sequence(snapshot.floor, COMPLETE) | FINAL_BIT
        return Observation(uid, run, order, None, datetime.now(UTC), message=why)

    def _with_namespace(self, observation: Observation, namespace: str) -> Observation:
        """Return an end with the deletion of its namespace as the reason, if that is it. A job
        whose pods are gone is not completed then, whatever its controller says."""
        if observation.phase is Phase.COMPLETED:
            may_be_lost = all(rank.phase is not RankPhase.SUCCEEDED for rank in observation.ranks)
        else:
            may_be_lost = observation.phase is Phase.FAILED and observation.reason is Reason.LOST
        if not (may_be_lost and self._namespaces.is_ending(namespace)):
            return observation
        why = _namespace_words(namespace)
        return replace(observation, phase=Phase.FAILED, reason=Reason.LOST, message=why)


def _namespace_words(namespace: str) -> str:
    return f"Its namespace {namespace} was deleted."


def _outside_event(uid: UUID, job: Manifest) -> ClusterEvent:
    meta = job["metadata"]
    at = parse_time(meta["creationTimestamp"])
    text = OUTSIDE_QUEUE.format(kind=job.get("kind", "Job"), queue=meta["labels"][QUEUE_NAME])
    return ClusterEvent(uid, f"outside-queue {meta['uid']}", at, "NotQueued", text)


def is_news(observation: Observation, last: Observation | None) -> bool:
    if last is None:
        return True
    later = (observation.run, observation.sequence) > (last.run, last.sequence)
    return later and not is_same_state(observation, last)
