"""The objects of one workload on the cluster, put together from several watches."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from engines.base import Manifest, Observation
from engines.kubernetes.jobs import JobKind, is_suspended
from engines.kubernetes.status.conditions import has_condition, is_completed
from engines.kubernetes.status.job import COMPLETE, JobView, resource_version
from engines.kubernetes.status.placements import Placements
from spec.phases import HELD_UP

MOST_WARNINGS = 50  # of one workload; the oldest go first
DELETION_FIELDS = ("deletionTimestamp", "deletionGracePeriodSeconds")
HEAVY_FIELDS = (
    "managedFields",
)  # records who set which field: half of an object, and of no use here


@dataclass
class Snapshot:
    """The job, pods, pod group and warnings of a workload.

    ``followers`` are the Jobs of other ranks than the lead, by name, where each rank has one.
    ``queue_entries`` are Kueue's Workloads of the job and its pods, by name; ``has_kueue`` says
    whether the cluster serves Kueue's API, and ``queue_place`` where the job stands in its queue,
    from 1, or 0 if that is unknown. ``deleted_pods`` keeps the last state of deleted pods, which
    tells how they ended. ``floor`` is the newest resource version among all objects, and
    ``order`` counts the changes at that version. ``keys`` identify all objects seen so far.
    ``placements`` are those of the pods of all workloads.
    """

    kind: JobKind | None = None
    job: Manifest | None = None
    pods: dict[str, Manifest] = field(default_factory=dict)
    deleted_pods: dict[str, Manifest] = field(default_factory=dict)
    followers: dict[str, Manifest] = field(default_factory=dict)
    group: Manifest | None = None
    has_kueue: bool = False
    queue_entries: dict[str, Manifest] = field(default_factory=dict)
    queue_place: int = 0
    warnings: dict[str, Manifest] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    floor: int = 0
    order: int = 0
    namespace: str = ""
    placements: Placements = field(default_factory=dict)
    _view: tuple[tuple[int, int], JobView] | None = None  # with its floor and order
    _observation: Observation | None = None  # made from that view
    _is_taken_over: bool = False  # the view was read before a list that showed the same objects

    @classmethod
    def read(
        cls,
        kind: JobKind,
        job: Manifest,
        pods: Iterable[Manifest],
        *,
        upto: int,
        has_kueue: bool = False,
        queue_entries: Iterable[Manifest] = (),
        followers: Iterable[Manifest] = (),
    ) -> "Snapshot":
        """A snapshot of a job and its pods, which were listed just before, at version ``upto``."""
        snapshot = cls(has_kueue=has_kueue)
        for pod in pods:
            snapshot.take_pod("ADDED", pod)
        snapshot.take_job(kind, "ADDED", job)
        for follower in followers:
            snapshot.take_follower("ADDED", follower)
        for entry in queue_entries:
            snapshot.take_queue_entry("ADDED", entry)
        snapshot.mark_listed(upto)
        return snapshot

    @property
    def is_complete(self) -> bool:
        """Whether it lacks no change up to its newest version."""
        return self.order == COMPLETE

    @property
    def is_over(self) -> bool:
        """Whether its job is gone, finished or suspended."""
        if self.job is None:
            return True
        status = self.job.get("status") or {}
        return is_suspended(self.job) or is_completed(status) or has_condition(status, "Failed")

    @property
    def pod_names(self) -> set[tuple[str, str]]:
        """Namespace and name of its pods."""
        metas = (pod["metadata"] for pod in self.pods.values())
        return {(meta["namespace"], meta["name"]) for meta in metas}

    @property
    def has_only_job(self) -> bool:
        """Whether nothing but the job itself has been seen."""
        pods = self.pods or self.deleted_pods
        others = pods or self.group or self.queue_entries or self.warnings
        return self.job is not None and not others and not self.job.get("status")

    def take_pod(self, what: str, pod: Manifest) -> None:
        name = pod["metadata"]["name"]
        self._advance_order(resource_version(pod))
        _keep_first_deletion(pod, self.pods.get(name))
        if what == "DELETED":
            self.pods.pop(name, None)
            pod["metadata"].setdefault("deletionTimestamp", datetime.now(UTC).isoformat())
            self.deleted_pods[name] = pod
        else:
            self.deleted_pods.pop(name, None)
            self.pods[name] = pod

    def take_job(self, kind: JobKind, what: str, job: Manifest) -> None:
        self._advance_order(resource_version(job))
        self.kind = kind
        self.job = None if what == "DELETED" else job
        self.namespace = job["metadata"].get("namespace", "")

    def take_follower(self, what: str, job: Manifest) -> None:
        self._advance_order(resource_version(job))
        if what == "DELETED":
            self.followers.pop(job["metadata"]["name"], None)
        else:
            self.followers[job["metadata"]["name"]] = job

    def take_group(self, what: str, group: Manifest) -> None:
        self._advance_order(resource_version(group))
        self.group = None if what == "DELETED" else group

    def take_queue_entry(self, what: str, entry: Manifest) -> None:
        self._advance_order(resource_version(entry))
        if what == "DELETED":
            self.queue_entries.pop(entry["metadata"]["name"], None)
        else:
            self.queue_entries[entry["metadata"]["name"]] = entry

    def take_warning(self, event: Manifest) -> None:
        """Add an event. Events may be in a separate store, whose versions do not compare
        with ours."""
        self._advance_order(0)
        self.warnings.pop(event["metadata"]["uid"], None)  # so that the newest is last
        self.warnings[event["metadata"]["uid"]] = event
        while len(self.warnings) > MOST_WARNINGS:
            del self.warnings[next(iter(self.warnings))]

    def outdate_view(self) -> None:
        """Have the snapshot judged again without a change, because silence is a finding, too."""
        self._advance_order(0)

    def _advance_order(self, newest: int) -> None:
        if newest > self.floor:
            self.floor = newest
            self.order = 1
        elif self.order < COMPLETE - 1:
            self.order += 1
        else:
            self.floor = self.floor + 1
            self.order = 1

    def mark_listed(self, upto: int) -> None:
        """Mark the snapshot as complete after a list, in which pods were read at version ``upto``.
        A job read after the pods may be newer."""
        self.order = COMPLETE if self.floor <= upto else 0
        self.floor = max(self.floor, upto)
        if self._is_taken_over and self._view and self._observation:
            view = self._view[1]
            place = (self.floor, self.order)
            sequence = view.sequence(self._observation.phase, floor=self.floor, order=self.order)
            self._view = (place, view)
            self._observation = replace(self._observation, sequence=sequence)

    def take_over(self, before: "Snapshot") -> None:
        """Take over what a list does not show from the snapshot ``before`` that list.

        If the objects are unchanged and the gang does not wait, take over the judgment as well,
        because time alone changes nothing then.
        """
        self.deleted_pods = {
            name: pod for name, pod in before.deleted_pods.items() if name not in self.pods
        }
        for name, pod in self.pods.items():
            _keep_first_deletion(pod, before.pods.get(name))
        self.keys |= before.keys
        self.queue_place = before.queue_place
        is_judged = before._view is not None and before._view[0] == (before.floor, before.order)
        waits = before._observation is None or before._observation.phase in HELD_UP
        if is_judged and not waits and self._versions == before._versions:
            self.kind = before.kind
            self.job = before.job
            self.pods = before.pods
            self.followers = before.followers
            self.group = before.group
            self.queue_entries = before.queue_entries
            self.warnings = before.warnings
            self._view = before._view
            self._observation = before._observation
            self._is_taken_over = True

    @property
    def _versions(self) -> set[tuple[str, str]]:
        others = (*self.pods.values(), *self.queue_entries.values(), *self.warnings.values())
        items = (self.job, *self.followers.values(), self.group, *others)
        metas = (item["metadata"] for item in items if item)
        return {(meta["uid"], meta["resourceVersion"]) for meta in metas}

    @property
    def job_view(self) -> JobView | None:
        """The job read together with its pods; ``None`` without a job, or while it is being
        deleted."""
        if self.job is None or self.kind is None or self.job["metadata"].get("deletionTimestamp"):
            return None
        moment = self.floor, self.order  # they differ after every change
        if self._view is None or self._view[0] != moment:
            self._view = (moment, self._read_view(self.kind, self.job))
            self._observation = None
        return self._view[1]

    def _read_view(self, kind: JobKind, job: Manifest) -> JobView:
        if is_suspended(job):
            self.deleted_pods.clear()
        return JobView.from_objects(
            kind,
            job,
            [*self.deleted_pods.values(), *self.pods.values()],
            group=self.group,
            warnings=self.warnings.values(),
            now=datetime.now(UTC),
            has_kueue=self.has_kueue,
            queue_entries=self.queue_entries.values(),
            queue_place=self.queue_place,
            placements=self.placements,
            followers=self.followers.values(),
        )

    @property
    def observation(self) -> Observation | None:
        view = self.job_view
        if view is None:
            return None
        if self._observation is None:
            self._observation = view.observation(floor=self.floor, order=self.order)
        return self._observation


def _keep_first_deletion(pod: Manifest, before: Manifest | None) -> None:
    """Keep when the deletion of a pod was first requested. Once its containers have ended, its node
    deletes it at once, and the server forgets the first request: then nobody can tell any more
    whether the program had ended before."""
    meta = pod["metadata"]
    first = before["metadata"] if before else {}
    if first.get("uid") == meta["uid"] and first.get("deletionTimestamp"):
        meta |= {name: first[name] for name in DELETION_FIELDS if name in first}


def drop_heavy_fields(item: Manifest) -> Manifest:
    for name in HEAVY_FIELDS:
        item["metadata"].pop(name, None)
    return item
