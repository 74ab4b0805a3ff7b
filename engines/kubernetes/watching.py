"""Following every workload of a cluster: a list, then one watch for each kind of object."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from uuid import UUID

from engines.base import EngineError, Manifest, Observation
from engines.kubernetes.api import Api, Gone
from engines.kubernetes.discovery import kinds_here
from engines.kubernetes.feed import Changes, Feed
from engines.kubernetes.kinds import WORKLOAD, Kind, workload_of
from engines.kubernetes.observing import END, WHOLE, Look, sequence, version

PODS = "/api/v1/pods"
TICK = 0.4  # seconds between two signs of life


@dataclass
class Known:
    """A workload as its objects stand. ``gone`` keeps the last of pods that were deleted, for
    what they said about their end; ``floor`` is the newest resource version seen of any."""

    kind: Kind | None = None
    job: Manifest | None = None
    pods: dict[str, Manifest] = field(default_factory=dict)
    gone: dict[str, Manifest] = field(default_factory=dict)
    floor: int = 0
    order: int = 0

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

    def take_job(self, kind: Kind, what: str, job: Manifest) -> None:
        self._count(version(job))
        self.kind, self.job = kind, None if what == "DELETED" else job

    def _count(self, newest: int) -> None:
        late = newest <= self.floor
        self.order = min(self.order + 1, WHOLE - 1) if late else 1
        self.floor = max(self.floor, newest)

    def listed(self, pods_at: int) -> None:
        """Everything was read. Pods first, so a job may show what came after them."""
        self.order = WHOLE if self.floor <= pods_at else 0

    @property
    def look(self) -> Look | None:
        """``None`` without a job, and while its deletion is under way."""
        if self.job is None or self.kind is None or self.job["metadata"].get("deletionTimestamp"):
            return None
        if self.job["spec"].get("runPolicy", {}).get("suspend"):
            self.gone.clear()
        return Look.at(self.kind, self.job, [*self.gone.values(), *self.pods.values()])


class Watcher:
    """``known`` is the latest of every workload, for whoever asks in the same process."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.known: dict[UUID, Known] = {}
        self._told: dict[UUID, Observation] = {}

    def __iter__(self) -> Iterator[Observation | None]:
        while True:
            changes: Changes = SimpleQueue()
            feeds = self._list(changes)
            try:
                yield from self._news(list(self.known))
                yield None
                for feed in feeds:
                    feed.start()
                yield from self._follow(changes)
            finally:
                for feed in feeds:
                    feed.close()

    def _list(self, changes: Changes) -> list[Feed]:
        """Everything as it is now, and the feeds that go on from there.

        Pods first: a job that is newer than its pods is what every later look shows as well.
        """
        before, self.known, feeds = self.known, {}, []
        pods_at = 0
        kinds = kinds_here(self._api)
        for kind, path in ((None, PODS), *((kind, kind.everywhere) for kind in kinds)):
            found = self._api.get(path, labelSelector=WORKLOAD)
            since = found["metadata"]["resourceVersion"]
            pods_at = pods_at or int(since)
            for item in found["items"]:
                self._take(kind, "ADDED", item)
            feeds.append(Feed(self._api, path, kind, since=since, changes=changes))
        for known in self.known.values():
            known.listed(pods_at)
        for uid, known in before.items():
            if known.job is not None and uid not in self.known:  # deleted while nobody looked
                self.known[uid] = Known(known.kind, floor=int(since))
        return feeds

    def _follow(self, changes: Changes) -> Iterator[Observation | None]:
        """Until the list is too old. Signs of life come even between changes that say nothing."""
        last = time.monotonic()
        while True:
            try:
                change = changes.get(timeout=TICK)
            except Empty:
                change = None
            if isinstance(change, Gone):
                return
            if isinstance(change, EngineError):
                raise change
            told = list(self._news([self._take(*change)])) if change else []
            yield from told
            if not told and time.monotonic() - last >= TICK:
                yield None
            if told or time.monotonic() - last >= TICK:
                last = time.monotonic()

    def _take(self, kind: Kind | None, what: str, item: Manifest) -> UUID | None:
        uid = workload_of(item["metadata"].get("labels") or {})
        if uid is None:
            return None
        known = self.known.setdefault(uid, Known())
        if kind is None:
            known.take_pod(what, item)
        else:
            known.take_job(kind, what, item)
        return uid

    def _news(self, uids: list[UUID | None]) -> Iterator[Observation]:
        """What is later than what was told before, and says something else."""
        for uid in uids:
            known = self.known.get(uid) if uid else None
            if uid is None or known is None:
                continue
            if known.job is None and known.kind is not None:
                yield self._gone(uid, known)
            elif look := known.look:
                seen = look.observation(floor=known.floor, order=known.order)
                if is_news(seen, self._told.get(uid)):
                    self._told[uid] = seen
                    yield seen

    def _gone(self, uid: UUID, known: Known) -> Observation:
        del self.known[uid]
        told = self._told.pop(uid, None)
        run = told.run if told else 1
        return Observation(uid, run, sequence(known.floor, WHOLE) | END, None, datetime.now(UTC))


def is_news(seen: Observation, told: Observation | None) -> bool:
    """Objects change for many reasons that no observation shows."""
    if told is None:
        return True
    later = (seen.run, seen.sequence) > (told.run, told.sequence)
    return later and replace(seen, sequence=told.sequence, at=told.at) != told
