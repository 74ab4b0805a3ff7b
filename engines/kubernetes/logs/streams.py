"""Follow the output of every rank: a stream for each growing log, up to a maximum.

A stream ends with its container, so that the last output arrives, too. If there are more logs than
streams, each keeps its stream for :data:`TURN_SECONDS`; pods that are being deleted come first.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import attrgetter
from threading import Condition, RLock, Thread, Timer
from uuid import UUID

from engines.base import EngineUnavailable
from engines.kubernetes.client.api import Api
from engines.kubernetes.labels import run_number
from engines.kubernetes.logs.follower import Follower
from engines.kubernetes.logs.silent_nodes import SilentNodes
from engines.kubernetes.status.job import JobView
from engines.kubernetes.status.pod import PodView
from engines.kubernetes.watch.snapshot import Snapshot
from engines.logs import Log, LogChunk

STREAMS = 64
TURN_SECONDS = 5.0
LINGER_SECONDS = 5.0  # seconds that streams outlive a watch, because the next one follows soon
#: Streams to one node that it has not answered yet: a dead node must not take all of them. One that
#: has failed is asked again by one stream.
MOST_OPENING = 4
REFILL_SECONDS = 1.0  # between two rounds over all logs, of which there may be thousands
FORGET_SECONDS = 600.0  # seconds after which the log of a deleted pod is dropped
Key = tuple[str, int]  # uid of the pod, restarts of its container


class LogStreams:
    """Schedules the streams. ``on_change`` gets the state of a workload's pods, ``read`` returns
    their output, and ``on_end`` is called when the log of an ended container may be complete.

    One lock guards this object and all followers.
    """

    def __init__(
        self, api: Api, *, streams: int = STREAMS, on_end: Callable[[], None] = lambda: None
    ) -> None:
        self._api = api
        self._limit = streams
        self._on_end = on_end
        self._lock = Condition(RLock())
        self._followers: dict[UUID, dict[Key, Follower]] = {}
        self._serving: set[Follower] = set()
        self._news: set[UUID] = set()
        self._silent_nodes = SilentNodes()
        self._closing: Timer | None = None
        self._queue: list[Follower] = []  # candidates for the next streams, the most urgent last
        self._refill_at = 0.0  # when all logs may be gone through again

    # --- What the watch says --------------------------------------------------------------------

    def on_change(self, uid: UUID, snapshot: Snapshot) -> None:
        """Take in the present state of a workload's objects."""
        with self._lock:
            followers = self._followers.setdefault(uid, {})
            view = snapshot.job_view
            if view is not None:
                for pod in view.pods:
                    if pod.name in snapshot.pods:
                        self._add(uid, followers, view, pod)
            here = {item["metadata"]["uid"]: item for item in snapshot.pods.values()}
            changed = False
            for follower in list(followers.values()):
                item = here.get(follower.log.origin)
                now = PodView(item, snapshot.kind) if item and snapshot.kind else None
                if follower.on_change(now):
                    self._queue.append(follower)
                    changed = True
                    if now and follower.is_over and self._silent_nodes.end_pause(follower.node):
                        follower.retry()
                if now is None and follower.is_done:
                    self._drop(follower)
            if not followers:
                self._followers.pop(uid, None)
            if snapshot.is_over:
                self._news.add(uid)  # also has workloads without output checked once more
            if changed:
                self._start()

    def _add(self, uid: UUID, followers: dict[Key, Follower], view: JobView, pod: PodView) -> None:
        """Add followers for the readable logs of a pod. If the job is suspended, only pods that are
        being deleted count: a new one belongs to a run that the watch has not seen yet."""
        slot = (pod.role, pod.index)
        suspended = (view.manifest["spec"].get("runPolicy") or {}).get("suspend")
        if slot not in view.slots or (suspended and not pod.is_being_deleted):
            return
        for start in pod.readable_starts:
            key = (pod.uid, start)
            if key not in followers:
                log = Log(run_number(view.manifest), view.slots.index(slot), start, key[0])
                container = view.kind.container
                followers[key] = Follower(uid, log, pod.manifest, container, self._lock)
                self._news.add(uid)

    def keep_open(self) -> None:
        """A watch begins: keep the streams."""
        if self._closing is not None:
            self._closing.cancel()

    def close_later(self) -> None:
        """A watch ended: without another one soon, drop all streams, because another process may
        watch."""
        self.keep_open()
        self._closing = Timer(LINGER_SECONDS, self._close)
        self._closing.daemon = True
        self._closing.start()

    def _close(self) -> None:
        with self._lock:
            for follower in self._all():
                follower.stop()
            self._followers.clear()
            self._queue.clear()
            self._news.clear()

    # --- What the collector asks ----------------------------------------------------------------

    def news(self) -> set[UUID]:
        with self._lock:
            uids = self._news
            self._news = set()
            self._make_room()
            self._start()
        return uids

    def logs(self, uid: UUID, run: int) -> list[Log]:
        with self._lock:
            followers = self._followers.get(uid, {}).values()
            of_run = [follower for follower in followers if follower.log.run == run]
            of_run.sort(key=_start_order)
            return [follower.log for follower in of_run]

    def read(self, uid: UUID, log: Log, cursor: str, limit: int) -> LogChunk:
        with self._lock:
            followers = self._followers.get(uid, {})
            follower = followers.get((log.origin, log.start))
            if follower is None:
                return LogChunk(cursor=cursor, ended=True)
            if follower.cursor != cursor:  # another process stored more, or storing failed
                follower.stop()
                late = follower.late or self._silent_nodes.reason(follower.node)
                follower = replace(follower, cursor=cursor, late=late)
                followers[follower.key] = follower
                self._queue.append(follower)
                self._start()
            chunk = follower.take(limit)
            if not chunk.data and follower.deleted_at and follower.is_done:
                self._drop(follower)
            return chunk

    # --- Streams --------------------------------------------------------------------------------

    def _start(self) -> None:
        """Start streams for the most urgent logs, as far as there are free ones."""
        while len(self._serving) < self._limit and (chosen := self._next()):
            chosen.served_at = time.monotonic()
            self._serving.add(chosen)
            name = f"log {chosen.pod['metadata']['name']}"
            Thread(target=self._serve, args=(chosen,), name=name, daemon=True).start()

    def _next(self) -> Follower | None:
        self._refill()
        opening = Counter(one.node for one in self._serving if not one.opened_at)
        while self._queue:
            follower = self._queue.pop()
            most = 1 if self._silent_nodes.has_failed(follower.node) else MOST_OPENING
            if self._is_ready(follower) and opening[follower.node] < most:
                return follower
        return None

    def _refill(self) -> None:
        """Queue every log that needs a stream again, if it is time for that."""
        if time.monotonic() < self._refill_at:
            return
        self._refill_at = time.monotonic() + REFILL_SECONDS
        for follower in list(self._all()):
            if follower.deleted_at and time.monotonic() - follower.deleted_at > FORGET_SECONDS:
                self._drop(follower)
        self._queue = [follower for follower in self._all() if self._is_ready(follower)]
        self._queue.sort(key=attrgetter("urgency"))

    def _is_ready(self, follower: Follower) -> bool:
        return (
            follower.needs_stream
            and follower not in self._serving
            and not self._silent_nodes.reason(follower.node)
        )

    def _serve(self, follower: Follower) -> None:
        def tell() -> None:
            with self._lock:
                self._news.add(follower.workload_id)
                if follower.opened_at:
                    self._silent_nodes.record_answer(follower.node)

        try:
            follower.serve(self._api, tell)
        except EngineUnavailable as error:
            where = f"{follower.node} does not return logs" if follower.node else "Logs wait"
            self._report_silent_node(follower, f"{where}; retrying. {error}")
        finally:
            with self._lock:
                self._serving.discard(follower)
                self._queue.insert(0, follower)  # last, because others have waited longer
                self._start()
            if follower.is_over:
                self._on_end()

    def _report_silent_node(self, follower: Follower, why: str) -> None:
        with self._lock:
            self._silent_nodes.record_failure(follower.node, why)
            if follower.late:
                return  # all that wait for this node know it already
            for other in self._all():
                is_waiting = other.is_unread and not other.opened_at and not other.late
                if is_waiting and other.node == follower.node:
                    other.late = why
                    self._news.add(other.workload_id)

    def _make_room(self) -> None:
        self._refill()
        if len(self._serving) < self._limit:
            return
        waiting = filter(self._is_ready, reversed(self._queue))
        long_ago = time.monotonic() - TURN_SECONDS
        served = [one for one in self._serving if 0 < one.opened_at < long_ago]
        served.sort(key=attrgetter("opened_at"))
        for follower, _ in zip(served, waiting, strict=False):
            follower.cut()

    def _drop(self, follower: Follower) -> None:
        follower.stop()
        followers = self._followers.get(follower.workload_id, {})
        followers.pop(follower.key, None)
        if not followers:
            self._followers.pop(follower.workload_id, None)

    def _all(self) -> Iterator[Follower]:
        return (one for followers in self._followers.values() for one in followers.values())


def _start_order(follower: Follower) -> tuple[str, int]:
    return str(follower.pod["metadata"]["creationTimestamp"]), follower.log.start
