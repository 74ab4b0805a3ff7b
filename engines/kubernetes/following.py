"""One container's log: how it stands on the cluster, and what was brought and not yet taken."""

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from threading import Condition
from uuid import UUID

from urllib3.response import BaseHTTPResponse

from engines.base import EngineRefused, EngineUnavailable, Manifest
from engines.kubernetes.api import Api, Denied, Missing, answered
from engines.kubernetes.pods import Seen
from engines.kubernetes.stamps import Place, Reader
from engines.logs import Log, Piece

BUFFER_BYTES = 512 * 1024  # of one log; who brings more waits until some of it is taken
BLOCK_BYTES = 64 * 1024
PATIENCE = 300.0  # seconds without a byte until the connection is made anew
SETTLING = 1.0  # seconds: a log may still be written down when its container has ended
ODD = 4  # answers in a row with words of the node's own until they are taken for its last
UNREAD = 10.0  # seconds in which a node, which looks about as often, may rotate a log unread
PAUSE = (0.5, 30.0)  # seconds until a log that was cut is asked for again: at first, at most


@dataclass
class Follower:
    """``over``: since when its container has ended, on the monotonic clock. ``gone``: its pod.
    ``restarts`` counts those of the container by now; ``log.start`` is the one that this is about.

    All of it changes under ``lock``.
    """

    workload_id: UUID
    log: Log
    pod: Manifest
    container: str
    lock: Condition
    restarts: int = 0
    over: float = 0.0
    gone: float = 0.0
    leaving: bool = False
    wanted: bool = False  # somebody said from where on
    ended: bool = False  # all that it printed was brought
    late: str = ""
    due: float = 0.0  # on the monotonic clock, as what follows
    served: float = 0.0
    opened: float = 0.0
    heard: float = 0.0
    brought: int = 0  # bytes by this connection
    taken: str = ""
    pieces: deque[tuple[bytes, str]] = field(default_factory=deque)
    held: int = 0
    _reader: Reader = field(default_factory=lambda: Reader(Place()))
    _response: BaseHTTPResponse | None = None
    _halted: bool = False
    _cuts: int = 0
    _left: float = 0.0  # when it was read last, by this reader

    @cached_property
    def key(self) -> tuple[str, int]:
        return self.log.origin, self.log.start

    @property
    def is_done(self) -> bool:
        """Nobody asked for it, or all of it was taken."""
        return not self.wanted or (self.ended and not self.pieces)

    @cached_property
    def node(self) -> str:
        """Its container has started there, so it stays."""
        return str(self.pod["spec"].get("nodeName", ""))

    def stands(self, seen: Seen | None) -> bool:
        """How its pod stands, ``None`` when gone; ``True`` if it needs a stream the sooner."""
        before = self.over, self.leaving
        if seen is None:
            self.gone = self.gone or time.monotonic()
            self.over = self.over or self.gone
        else:
            self.pod, self.leaving = seen.pod, seen.is_leaving
            self.restarts = max(self.restarts, seen.restarts)
            if self.log.start < self.restarts or not seen.is_running:
                self.over = self.over or time.monotonic()
        if (self.over, self.leaving) == before:
            return False
        self.due = 0.0
        return True

    def take(self, cursor: str, limit: int) -> Piece:
        """What comes after ``cursor``. From a place that is not where the last piece ended, it is
        brought anew: somebody else wrote, or what was taken could not be kept."""
        if not self.wanted or cursor != self.taken:
            self.wanted, self.ended, self.taken = True, False, cursor
            self.pieces.clear()
            self.held, self.due = 0, 0.0
            self._reader, self._left = Reader(Place.of(cursor)), 0.0
            self.halt()
            return Piece(cursor=cursor, late=self.late)
        told: list[bytes] = []
        while self.pieces and (not told or len(self.pieces[0][0]) <= limit):
            data, self.taken = self.pieces.popleft()
            told.append(data)
            limit -= len(data)
            self.held -= len(data)
        self.lock.notify_all()
        ended = self.ended and not self.pieces
        return Piece(b"".join(told), self.taken, ended, "" if ended else self.late)

    def halt(self) -> None:
        """Cut what is being read. It goes on from where it is when it is served again."""
        self._halted = True
        if self._response is not None:
            with suppress(ValueError, OSError, RuntimeError):  # it may be over by itself
                self._response.shutdown()
        self.lock.notify_all()

    def serve(self, api: Api, tell: Callable[[], None]) -> None:
        """Bring what there is, and what comes until the container ends. ``tell``: something came,
        or nothing more will. ``EngineUnavailable``: the node did not answer at all."""
        with self.lock:
            reader, self._halted, over = self._reader, False, self.over
        before, is_last = reader.state, over and time.monotonic() - over > SETTLING
        try:
            with self._open(api, reader, follows=not over) as response:
                if self._is_ours(api):
                    with self.lock:
                        self._response, self.brought, self.late = response, 0, ""
                        self.opened = self.heard = time.monotonic()
                    tell()  # its node answers
                    reader.connect(was_away=time.monotonic() - self._left > UNREAD)
                    try:
                        self._bring(reader, response, tell)
                    finally:
                        self._put(reader, reader.pause())
                        self._leave(reader)
                    is_clear = not reader.was_odd or self._cuts > ODD
                    if is_last and is_clear and reader.state == before:
                        self._finish(reader)
        except EngineUnavailable:
            if not self.opened:
                raise
        except Denied as refusal:
            self.late = str(refusal)
        except EngineRefused:  # gone with its pod, or removed by its node; or not there yet
            if self.over:
                self._finish(reader)
        finally:
            with self.lock:
                self._response, self.opened = None, 0.0
                self._cuts = 0 if reader.state != before else self._cuts + 1
                self.due = time.monotonic() + self._pause(was_over=bool(over))
            tell()

    def _pause(self, *, was_over: bool) -> float:
        """Seconds until it is asked for again."""
        if self._halted or (self.over and not was_over):
            return 0.0
        pause = min(PAUSE[0] * 2 ** min(self._cuts, 8), PAUSE[1])
        return max(SETTLING, pause if self._cuts > 1 else 0.0) if self.over else pause

    def _open(self, api: Api, reader: Reader, *, follows: bool) -> BaseHTTPResponse:
        query = {"container": self.container, "timestamps": "true"}
        query |= {"follow": "true"} if follows else {}
        query |= {"previous": "true"} if self.log.start < self.restarts else {}
        query |= {"sinceTime": reader.place.since} if reader.place.since else {}
        return api.follow(f"{self._path}/log", query, silence=PATIENCE)

    def _is_ours(self, api: Api) -> bool:
        """The API knows a pod by its name, which another one may bear by now, and of its containers
        the current one and the one before, which others may be by now."""
        found = api.find(self._path)
        if found is None:
            return True  # it was there a moment ago
        if found["metadata"]["uid"] != self.pod["metadata"]["uid"]:
            raise Missing("Another pod bears its name.")
        states = (found.get("status") or {}).get("containerStatuses") or []
        now = next((int(s["restartCount"]) for s in states if s["name"] == self.container), 0)
        with self.lock:
            known, self.restarts = self.restarts, max(now, self.restarts)
            if self.log.start < now:
                self.over = self.over or time.monotonic()
            self._halted = self._halted or now != known
        if now > self.log.start + 1:
            raise Missing("It was restarted twice.")
        return now == known

    def _bring(self, reader: Reader, response: BaseHTTPResponse, tell: Callable[[], None]) -> None:
        with answered():
            for block in response.stream(BLOCK_BYTES):
                data = reader.feed(block)
                with self.lock:
                    while self.held >= BUFFER_BYTES and self._is_current(reader):
                        self.lock.wait()
                    if reader is not self._reader:
                        return
                    self.brought, self.heard = self.brought + len(block), time.monotonic()
                    self._put(reader, data)
                    if self._halted:
                        return
                if data:
                    tell()

    def _put(self, reader: Reader, data: bytes) -> None:
        with self.lock:
            if data and reader is self._reader:
                self.pieces.append((data, str(reader.place)))
                self.held += len(data)

    def _leave(self, reader: Reader) -> None:
        """Another one, which took its place meanwhile, goes on from where nobody read lately."""
        with self.lock:
            if reader is self._reader:
                self._left = time.monotonic()

    def _is_current(self, reader: Reader) -> bool:
        return reader is self._reader and not self._halted

    def _finish(self, reader: Reader) -> None:
        """That was all."""
        with self.lock:
            if self._is_current(reader):
                self._put(reader, reader.flush())
                self.ended, self.late = True, ""

    @property
    def _path(self) -> str:
        meta = self.pod["metadata"]
        return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
