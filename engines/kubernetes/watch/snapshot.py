"""A workload as its objects on the cluster stand, put together from several watches."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from engines.base import Manifest, Observation
from engines.kubernetes.jobs import JobKind, is_suspended, kind_of
from engines.kubernetes.status.conditions import completed, holds
from engines.kubernetes.status.job import COMPLETE, JobView, version
from spec.phases import HELD_UP

MOST_WARNINGS = 50  # of one workload; the oldest go first
HEAVY = ("managedFields",)  # who set which field: half of an object, and of no use here


@dataclass
class Snapshot:
    """``gone`` keeps the last of pods that were deleted, for what they said about their end;
    ``floor`` is the newest resource version seen of any. ``keys`` are all objects ever seen."""

    kind: JobKind | None = None
    job: Manifest | None = None
    pods: dict[str, Manifest] = field(default_factory=dict)
    gone: dict[str, Manifest] = field(default_factory=dict)
    group: Manifest | None = None
    warnings: dict[str, Manifest] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    floor: int = 0
    order: int = 0
    space: str = ""  # namespace of its job
    _view: tuple[tuple[int, int], JobView] | None = None  # at which floor and order
    _said: Observation | None = None  # of that view
    _is_remembered: bool = False  # the view is of before a list that shows the same objects

    @classmethod
    def read(
        cls, kind: JobKind, job: Manifest, pods: Iterable[Manifest], *, upto: int
    ) -> "Snapshot":
        """A job, and its pods of just before, which were read at the version ``upto``."""
        snapshot = cls()
        for pod in pods:
            snapshot.take_pod("ADDED", pod)
        snapshot.take_job(kind, "ADDED", job)
        snapshot.listed(upto)
        return snapshot

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing up to the newest version that was seen."""
        return self.order == COMPLETE

    @property
    def is_over(self) -> bool:
        """Whether its job is gone, at its end or suspended."""
        if self.job is None:
            return True
        status = self.job.get("status") or {}
        return is_suspended(self.job) or completed(status) or holds(status, "Failed")

    @property
    def names(self) -> set[tuple[str, str]]:
        """Namespace and name of its pods."""
        metas = (pod["metadata"] for pod in self.pods.values())
        return {(meta["namespace"], meta["name"]) for meta in metas}

    @property
    def is_bare(self) -> bool:
        """A job of which nothing has come yet."""
        others = self.pods or self.gone or self.group or self.warnings
        return self.job is not None and not others and not self.job.get("status")

    def take_pod(self, what: str, pod: Manifest) -> None:
        name = pod["metadata"]["name"]
        self._count(version(pod))
        if what == "DELETED":
            self.pods.pop(name, None)
            pod["metadata"].setdefault("deletionTimestamp", pod["metadata"]["creationTimestamp"])
            self.gone[name] = pod
        else:
            self.gone.pop(name, None)
            self.pods[name] = pod

    def take_job(self, kind: JobKind, what: str, job: Manifest) -> None:
        self._count(version(job))
        self.kind, self.job = kind_of(kind, job), None if what == "DELETED" else job
        self.space = job["metadata"].get("namespace", "")

    def take_group(self, what: str, group: Manifest) -> None:
        self._count(version(group))
        self.group = None if what == "DELETED" else group

    def take_warning(self, event: Manifest) -> None:
        """Events may be kept in a store of their own, whose versions say nothing about ours."""
        self._count(0)
        self.warnings.pop(event["metadata"]["uid"], None)  # so that the newest stands last
        self.warnings[event["metadata"]["uid"]] = event
        while len(self.warnings) > MOST_WARNINGS:
            del self.warnings[next(iter(self.warnings))]

    def age(self) -> None:
        """Have it judged anew: with time, silence says something as well."""
        self._count(0)

    def _count(self, newest: int) -> None:
        if newest > self.floor:
            self.floor, self.order = newest, 1
        elif self.order < COMPLETE - 1:
            self.order += 1
        else:
            self.floor, self.order = self.floor + 1, 1

    def listed(self, upto: int) -> None:
        """Everything was read, pods up to the version ``upto``. A job may show what came after."""
        self.order = COMPLETE if self.floor <= upto else 0
        self.floor = max(self.floor, upto)
        if self._is_remembered and self._view and self._said:
            view, place = self._view[1], (self.floor, self.order)
            sequence = view.sequence(self._said.phase, floor=self.floor, order=self.order)
            self._view, self._said = (place, view), replace(self._said, sequence=sequence)

    def remember(self, before: "Snapshot") -> None:
        """Take over from the time before a list what no list shows, and what needs no second look:
        the objects are as they were, and with time alone nothing is said of a gang that does not
        wait."""
        self.gone = {name: pod for name, pod in before.gone.items() if name not in self.pods}
        self.keys |= before.keys
        is_judged = before._view is not None and before._view[0] == (before.floor, before.order)
        waits = before._said is None or before._said.phase in HELD_UP
        if is_judged and not waits and self._versions == before._versions:
            self.kind, self.job, self.pods = before.kind, before.job, before.pods
            self.group, self.warnings = before.group, before.warnings
            self._view, self._said, self._is_remembered = before._view, before._said, True

    @property
    def _versions(self) -> set[tuple[str, str]]:
        items = (self.job, self.group, *self.pods.values(), *self.warnings.values())
        metas = (item["metadata"] for item in items if item)
        return {(meta["uid"], meta["resourceVersion"]) for meta in metas}

    @property
    def job_view(self) -> JobView | None:
        """``None`` without a job, and while its deletion is under way."""
        if self.job is None or self.kind is None or self.job["metadata"].get("deletionTimestamp"):
            return None
        moment = self.floor, self.order  # with every change they are others
        if self._view is None or self._view[0] != moment:
            self._view, self._said = (moment, self._read_view(self.kind, self.job)), None
        return self._view[1]

    def _read_view(self, kind: JobKind, job: Manifest) -> JobView:
        if is_suspended(job):
            self.gone.clear()
        return JobView.at(
            kind,
            job,
            [*self.gone.values(), *self.pods.values()],
            group=self.group,
            warnings=self.warnings.values(),
            now=datetime.now(UTC),
        )

    @property
    def observation(self) -> Observation | None:
        view = self.job_view
        if view is None:
            return None
        if self._said is None:
            self._said = view.observation(floor=self.floor, order=self.order)
        return self._said


def lighter(item: Manifest) -> Manifest:
    for name in HEAVY:
        item["metadata"].pop(name, None)
    return item
