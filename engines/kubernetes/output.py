"""What every rank prints: a stream for each log that grows, as many at a time as allowed.

A stream ends with its container, so that what is printed at the very end arrives, too. Where there
are more logs than streams, each keeps its stream for :data:`TURN` seconds; pods that are on their
way out come first.
"""

import time
from collections import Counter
from collections.abc import Iterator
from threading import Condition, RLock, Thread, Timer
from uuid import UUID

from engines.base import EngineUnavailable
from engines.kubernetes.api import Api
from engines.kubernetes.following import Follower
from engines.kubernetes.known import Known
from engines.kubernetes.observing import Look, run_of
from engines.kubernetes.pods import Seen
from engines.logs import Log, Piece

STREAMS = 64
TURN = 5.0
LINGER = 5.0  # seconds that streams outlive a watch, for the next one follows at once
#: A kubelet may miss that a log was rotated while it sent a long stretch in one go, and then tells
#: nothing more. So after as many bytes at most, and as many seconds without any, it is asked again.
RENEW = (5 * 1024**2, 2.0)
OPENING = 4  # streams of one node that it has not answered yet: a dead one must not take all
AWAY = (2.0, 60.0)  # seconds until a node that did not answer is asked again: at first, at most
SHARE = 0.002  # of the time, at most, goes into looking through thousands of logs
LATEST = 5.0  # seconds between two such looks, however long one took
FORGET = 600.0  # seconds after which nobody will ask for the rest of a pod that is gone
Key = tuple[str, int]  # uid of a pod, restarts of its container


class Output:
    """``heed`` hears how a workload's pods stand; ``read`` hands out what they printed."""

    def __init__(self, api: Api, *, streams: int = STREAMS) -> None:
        self._api, self._streams = api, streams
        self._lock = Condition(RLock())
        self._followers: dict[UUID, dict[Key, Follower]] = {}
        self._serving: dict[Key, Follower] = {}
        self._news: set[UUID] = set()
        self._away: dict[str, tuple[float, int]] = {}  # until when, and how often in a row
        self._end: Timer | None = None
        self._queue: list[Follower] = []  # who may have the next streams, the neediest last
        self._again = 0.0  # when all may be looked through again

    # --- What the watch says --------------------------------------------------------------------

    def heed(self, uid: UUID, known: Known) -> None:
        """How the objects of a workload stand now."""
        with self._lock:
            mine = self._followers.setdefault(uid, {})
            look = known.look
            if look is not None:
                for seen in look.pods:
                    if seen.pod["metadata"]["name"] in known.pods:
                        self._add(uid, mine, look, seen)
            here = {pod["metadata"]["uid"]: pod for pod in known.pods.values()}
            changed = False
            for follower in list(mine.values()):
                pod = here.get(follower.log.origin)
                now = Seen(pod, known.kind) if pod and known.kind else None
                if follower.stands(now):
                    self._queue.append(follower)
                    changed = True
                if now is None and follower.is_done:
                    self._drop(follower)
            if not mine:
                self._followers.pop(uid, None)
            if known.is_over:
                self._news.add(uid)  # whoever printed nothing is looked at once more, too
            if changed:
                self._start()

    def _add(self, uid: UUID, mine: dict[Key, Follower], look: Look, seen: Seen) -> None:
        """The containers of a pod that can be read. Of a job that is suspended only those that
        leave: a new pod is of a run which the watch of jobs has not told of yet."""
        slot = (seen.role, seen.index)
        suspended = (look.job["spec"].get("runPolicy") or {}).get("suspend")
        if slot not in look.slots or (suspended and not seen.is_leaving):
            return
        for start in seen.starts:
            key = (seen.pod["metadata"]["uid"], start)
            if key not in mine:
                log = Log(run_of(look.job), look.slots.index(slot), start, key[0])
                mine[key] = Follower(uid, log, seen.pod, look.kind.container, self._lock)
                self._news.add(uid)

    def wake(self) -> None:
        """A watch begins."""
        if self._end is not None:
            self._end.cancel()

    def rest(self) -> None:
        """It is over. Without another one soon, all is forgotten: someone else may watch."""
        self.wake()
        self._end = Timer(LINGER, self._close)
        self._end.daemon = True
        self._end.start()

    def _close(self) -> None:
        with self._lock:
            for follower in self._all():
                follower.wanted = False
                follower.halt()
            self._followers.clear()
            self._queue.clear()
            self._news.clear()

    # --- What the collector asks ----------------------------------------------------------------

    def news(self) -> set[UUID]:
        with self._lock:
            found, self._news = self._news, set()
            self._make_room()
            self._start()
        return found

    def logs(self, uid: UUID, run: int) -> list[Log]:
        with self._lock:
            mine = self._followers.get(uid, {}).values()
            found = [one for one in mine if one.log.run == run]
            found.sort(key=lambda it: (it.pod["metadata"]["creationTimestamp"], it.log.start))
            return [one.log for one in found]

    def read(self, uid: UUID, log: Log, cursor: str, limit: int) -> Piece:
        with self._lock:
            follower = self._followers.get(uid, {}).get((log.origin, log.start))
            if follower is None:
                return Piece(cursor=cursor, ended=True)
            is_new = not follower.wanted or cursor != follower.taken
            piece = follower.take(cursor, limit)
            if piece.ended and not piece.data and follower.gone:
                self._drop(follower)
            if is_new:
                self._queue.append(follower)
                self._start()
            return piece

    # --- Streams --------------------------------------------------------------------------------

    def _start(self) -> None:
        """Give the free streams to those who need one most."""
        while len(self._serving) < self._streams and (chosen := self._next()):
            chosen.served = time.monotonic()
            self._serving[chosen.key] = chosen
            name = f"log {chosen.pod['metadata']['name']}"
            Thread(target=self._serve, args=(chosen,), name=name, daemon=True).start()

    def _next(self) -> Follower | None:
        self._look()
        opening = Counter(one.node for one in self._serving.values() if not one.opened)
        while self._queue:
            follower = self._queue.pop()
            if self._is_ready(follower) and opening[follower.node] < OPENING:
                return follower
        return None

    def _look(self) -> None:
        """Queue anew all who could be served; there may be thousands, so not at every chance."""
        started = time.monotonic()
        if started < self._again:
            return
        for follower in list(self._all()):
            if follower.gone and started - follower.gone > FORGET:
                self._drop(follower)
        self._queue = [follower for follower in self._all() if self._is_ready(follower)]
        self._queue.sort(key=lambda it: (it.leaving or it.over > 0, -it.served))
        ended = time.monotonic()
        self._again = ended + min((ended - started) / SHARE, LATEST)

    def _is_ready(self, follower: Follower) -> bool:
        now = time.monotonic()
        return (
            follower.wanted
            and not follower.ended
            and follower.due <= now
            and follower.key not in self._serving
            and self._away.get(follower.node, (0.0, 0))[0] <= now
        )

    def _serve(self, follower: Follower) -> None:
        def tell() -> None:
            with self._lock:
                self._news.add(follower.workload_id)
                if follower.opened:
                    self._away.pop(follower.node, None)

        try:
            follower.serve(self._api, tell)
        except EngineUnavailable as error:
            where = f"{follower.node} does not hand out logs" if follower.node else "Logs wait"
            self._is_away(follower, f"{where}; it is asked again. {error}")
        finally:
            with self._lock:
                self._serving.pop(follower.key, None)
                self._start()

    def _is_away(self, follower: Follower, why: str) -> None:
        with self._lock:
            failures = self._away.get(follower.node, (0.0, 0))[1]
            pause = min(AWAY[0] * 2 ** min(failures, 8), AWAY[1])
            self._away[follower.node] = (time.monotonic() + pause, failures + 1)
            if follower.late:
                return  # all who wait for this node have been told
            for other in self._all():
                waits = other.wanted and not (other.ended or other.opened or other.late)
                if waits and other.node == follower.node:
                    other.late = why
                    self._news.add(other.workload_id)

    def _make_room(self) -> None:
        now = time.monotonic()
        self._look()
        for one in self._serving.values():
            was_long = one.opened and one.brought > RENEW[0]
            if was_long and not one.pieces and one.heard < now - RENEW[1]:
                one.halt()
        served = [one for one in self._serving.values() if 0 < one.opened < now - TURN]
        if len(self._serving) >= self._streams:
            waiting = filter(self._is_ready, reversed(self._queue))
            for follower, _ in zip(sorted(served, key=lambda it: it.opened), waiting, strict=False):
                follower.halt()

    def _drop(self, follower: Follower) -> None:
        follower.wanted = False
        follower.halt()
        mine = self._followers.get(follower.workload_id, {})
        mine.pop(follower.key, None)
        if not mine:
            self._followers.pop(follower.workload_id, None)

    def _all(self) -> Iterator[Follower]:
        return (one for mine in self._followers.values() for one in mine.values())
