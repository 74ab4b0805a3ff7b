"""Following every workload of a cluster: a list, then one watch for each sort of object."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from math import inf
from queue import Empty, SimpleQueue
from uuid import UUID

from engines.base import ClusterEvent, EngineError, EngineRefused, EngineUnavailable, Manifest, Node
from engines.base import Observation as Seen
from engines.kubernetes.api import Api, Gone
from engines.kubernetes.belongings import NAMESPACES
from engines.kubernetes.discovery import KAI_GROUP, kinds_here, served
from engines.kubernetes.events import EVENTS, GAVE_WAY, SELECTOR, Early, is_telling, told
from engines.kubernetes.feed import Changes, Feed, Listing, Pulse, Source
from engines.kubernetes.impossible import judged
from engines.kubernetes.kinds import workload_of
from engines.kubernetes.known import Known, lighter
from engines.kubernetes.observing import END, WHOLE, sequence

PODS = "/api/v1/pods"
GROUPS_VERSION = f"{KAI_GROUP}/v2alpha2"
POD = Source(PODS)
GROUP = Source(f"/apis/{GROUPS_VERSION}/podgroups", optional=True)
EVENT = Source(EVENTS, fields=SELECTOR, optional=True)
TICK = 0.4  # seconds between two signs of life
AT_ONCE = 1000  # workloads whose changes are taken in before they are told
MOST_HEARD = 5000
ASK_SECONDS = 1.0  # between two questions about one namespace, which may lose many at once
CURRENT_SECONDS = 15.0  # after which a watch that rests may have missed what matters
HOLD_SECONDS = 20.0  # that a new job is kept back while there is nothing to say of it; see UNSEEN


class Watcher:
    """``known`` is the latest of every workload, for whoever asks in the same process; ``heed``
    hears of each change before it is told. ``nodes`` are the cluster's, as they were lately."""

    def __init__(
        self,
        api: Api,
        heed: Callable[[UUID, Known], None],
        nodes: Callable[[], Sequence[Node]] = tuple,
    ) -> None:
        self._api, self._heed, self._nodes = api, heed, nodes
        self.known: dict[UUID, Known] = {}
        self._current = -inf  # when it was last: not while it lists, nor while nobody takes in
        self.heard: deque[ClusterEvent] = deque(maxlen=MOST_HEARD)
        self._owners: dict[str, UUID] = {}
        self._early = Early()
        self._told: dict[UUID, Seen] = {}
        self._held: dict[UUID, float] = {}
        self._ending: dict[str, tuple[float, bool]] = {}

    def __iter__(self) -> Generator[Seen | None]:
        while True:
            changes: Changes = SimpleQueue()
            sources = self._sources()
            try:
                feeds = self._list(sources, changes)
            except Gone:
                continue  # it took longer than the server remembers
            others = partial(self._serves_others, sources)
            pulse = Pulse(self._api, changes=changes, others=others)
            try:
                yield from self._news(list(self.known))
                yield None
                for thread in (*feeds, pulse):
                    thread.start()
                yield from self._follow(changes)
            finally:
                for thread in (*feeds, pulse):
                    thread.close()

    def _sources(self) -> list[Source]:
        """Pods first: a job that is newer than its pods is what every later look shows as well."""
        jobs = [Source(kind.everywhere, kind) for kind in kinds_here(self._api)]
        groups = [GROUP] if "podgroups" in served(self._api, GROUPS_VERSION) else []
        return [POD, *jobs, *groups, EVENT]

    def _list(self, sources: list[Source], changes: Changes) -> list[Feed]:
        """Everything as it is now, and the feeds that go on from there."""
        self._current = -inf
        before, self.known, feeds = self.known, {}, []
        upto = 0
        for source in sources:
            listing = Listing(self._api, source)
            try:
                for item in listing:
                    self._take(source, "ADDED", item)
            except Gone:
                self.known = before
                raise
            except EngineRefused:
                if not source.optional:
                    raise
                continue
            upto = upto or int(listing.since)
            feeds.append(Feed(self._api, source, since=listing.since, changes=changes))
        for uid, known in before.items():
            if uid in self.known:
                self.known[uid].remember(known)
            elif known.job is not None:  # deleted while nobody looked
                gone = Known(known.kind, floor=upto, uids=known.uids, space=known.space)
                self.known[uid] = gone
        for known in self.known.values():
            known.listed(upto)
        for uid, known in self.known.items():
            self._heed(uid, known)
        self._current = time.monotonic()
        return feeds

    @property
    def is_current(self) -> bool:
        """Whether ``known`` is all there is, as it was a moment ago. It is not while everything is
        listed, nor in a watch that rests, because another process has the turns for instance."""
        return time.monotonic() - self._current < CURRENT_SECONDS

    def _serves_others(self, sources: list[Source]) -> bool:
        with suppress(EngineUnavailable):  # whether it answers is another question
            return self._sources() != sources
        return False

    def _follow(self, changes: Changes) -> Iterator[Seen | None]:
        """Until the list is too old, or the cluster serves other kinds than it did."""
        while True:
            try:
                touched = self._drain(changes)
            except Gone:
                return
            self._current = time.monotonic()
            yield from self._news(list(self._ripe(touched)))
            yield None

    def _ripe(self, touched: Iterable[UUID]) -> Iterator[UUID]:
        """A job that was just made says what its submission said: it is told with its first pod,
        warning or condition, or when that takes long. So a burst of submissions is told once."""
        now = time.monotonic()
        for uid in touched:
            known = self.known.get(uid)
            if known and known.is_bare and uid not in self._told:
                self._held.setdefault(uid, now + HOLD_SECONDS)
            else:
                self._held.pop(uid, None)
                yield uid
        for uid in [uid for uid, until in self._held.items() if until <= now]:
            del self._held[uid]
            yield uid

    def _drain(self, changes: Changes) -> list[UUID]:
        """Take in what has arrived, and name the workloads it is about, each once.

        Waits a moment for the first change. What ended a feed is raised.
        """
        touched: dict[UUID, None] = {}
        with suppress(Empty):
            change = changes.get(timeout=TICK)
            while True:
                if isinstance(change, EngineError):
                    raise change
                if uid := self._take(*change):
                    touched[uid] = None
                    self._heed(uid, self.known[uid])
                if len(touched) >= AT_ONCE:
                    break
                change = changes.get_nowait()
        return list(touched)

    def _take(self, source: Source, what: str, item: Manifest) -> UUID | None:
        if source == EVENT:
            return self._take_event(item) if what != "DELETED" else None
        uid = workload_of(item["metadata"].get("labels") or {})
        if uid is None:
            return None
        known = self.known.setdefault(uid, Known())
        if source.kind is not None:
            known.take_job(source.kind, what, lighter(item))
        elif source == GROUP:
            known.take_group(what, lighter(item))
        else:
            known.take_pod(what, lighter(item))
        self._own(uid, known, item["metadata"]["uid"])
        return uid

    def _own(self, uid: UUID, known: Known, object_uid: str) -> None:
        if object_uid not in known.uids:
            known.uids.add(object_uid)
            self._owners[object_uid] = uid
            for event in self._early.take(object_uid):
                self._take_event(event)

    def _take_event(self, event: Manifest) -> UUID | None:
        if not is_telling(event):
            return None
        uid = self._owners.get(event["involvedObject"].get("uid", ""))
        if uid is None:
            self._early.keep(lighter(event))
            return None
        self.heard.append(told(event, uid))
        known = self.known.get(uid)
        tells = event.get("type") == "Warning" or event.get("reason") in GAVE_WAY
        if known is None or not tells:
            return None
        known.take_warning(lighter(event))
        return uid

    def _news(self, uids: Iterable[UUID]) -> Iterator[Seen]:
        """What is later than what was told before, and says something else."""
        for uid in uids:
            known = self.known.get(uid)
            if known is None:
                continue
            if known.job is None and known.kind is not None:
                yield self._gone(uid, known)
            elif seen := known.observation:
                seen = judged(seen, known.pods.values(), self._nodes)
                if is_news(seen, self._told.get(uid)):
                    self._told[uid] = seen
                    yield seen

    def _gone(self, uid: UUID, known: Known) -> Seen:
        del self.known[uid]
        for object_uid in known.uids:
            self._owners.pop(object_uid, None)
        last = self._told.pop(uid, None)
        run = last.run if last else 1
        why = f"Its namespace {known.space} was deleted." if self._is_ending(known.space) else ""
        order = sequence(known.floor, WHOLE) | END
        return Seen(uid, run, order, None, datetime.now(UTC), message=why)

    def _is_ending(self, space: str) -> bool:
        """Whether a namespace goes, and all that is in it."""
        now = time.monotonic()
        asked, known = self._ending.get(space, (0.0, False))
        if not asked or now - asked > ASK_SECONDS:
            try:
                found = self._api.find(f"{NAMESPACES}/{space}")
                known = found is None or "deletionTimestamp" in found["metadata"]
            except EngineError:
                known = False  # a reason less; that the job is gone is told all the same
            self._ending[space] = (now, known)
        return known


def is_news(seen: Seen, last: Seen | None) -> bool:
    """Objects change for many reasons that no observation shows."""
    if last is None:
        return True
    later = (seen.run, seen.sequence) > (last.run, last.sequence)
    return later and replace(seen, sequence=last.sequence, at=last.at) != last
