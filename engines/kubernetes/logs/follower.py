"""Follow one container's log: its state, and output that was read and not yet stored."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from threading import Condition
from uuid import UUID

from urllib3.response import BaseHTTPResponse

from engines.base import EngineRefused, EngineUnavailable, Manifest
from engines.kubernetes.client.api import Api, Denied, NotFound, answered
from engines.kubernetes.logs import rotation, starts
from engines.kubernetes.logs.ahead import Ahead, Pieces
from engines.kubernetes.logs.cursor import LogCursor
from engines.kubernetes.logs.reader import Reader
from engines.kubernetes.logs.source import LogSource
from engines.kubernetes.status.pod import PodView
from engines.logs import Log, LogChunk

BLOCK_BYTES = 64 * 1024
SETTLING = 1.0  # seconds that a log may still grow after its container has ended
ODD = 4  # answers in a row with a kubelet's message until they count as complete
#: Bytes, then seconds of silence, after which a log is requested again: a rotation may be missed.
RENEW = (5 * 1024**2, 2.0)
PAUSE = (0.5, 30.0)  # seconds until a cut-off log is requested again: at first, and at most


@dataclass
class Follower:
    """A log and its buffer. ``_over``: when its container ended, on the monotonic clock; ``_gone``:
    when its pod was deleted. ``log.start`` is the start of the container this log belongs to.

    Callers hold ``lock``, which all logs of a cluster share, except for ``serve``, which waits for
    the cluster and takes it as needed.
    """

    workload_id: UUID
    log: Log
    pod: Manifest
    container: str
    lock: Condition
    ahead: Ahead
    late: str = ""  # why no output comes, once that was reported
    _restarts: int = 0  # starts of the container that are over
    _over: float = 0.0
    _gone: float = 0.0
    _leaving: bool = False
    _wanted: bool = False  # somebody said where to start
    _ended: bool = False  # all output was read
    _due: float = 0.0  # monotonic time, as the next ones
    _opened: float = 0.0
    _heard: float = 0.0  # when data last came; infinite while it is processed
    _brought: int = 0  # bytes of this stream
    _taken: str = ""
    _reader: Reader = field(default_factory=lambda: Reader(LogCursor()))
    _response: BaseHTTPResponse | None = None
    _halted: bool = False
    _cuts: int = 0
    _whole_at: float = 0.0  # when the last stream reached the end of its file (Unix time)
    _is_read: bool = False  # a stream reached the end, and none brought more since

    def __post_init__(self) -> None:
        self._pieces = Pieces(self.ahead)

    @cached_property
    def key(self) -> tuple[str, int]:
        return self.log.origin, self.log.start

    @property
    def opened(self) -> float:
        """When its node answered, on the monotonic clock; 0 if it has not."""
        return self._opened

    def is_gone_for(self, seconds: float) -> bool:
        """Whether its pod has been gone for so long."""
        return self._gone > 0 and time.monotonic() - self._gone > seconds

    @property
    def is_over(self) -> bool:
        """Whether its container has ended."""
        return self._over > 0

    @property
    def is_ending(self) -> bool:
        """Whether output may be lost unless it is read soon."""
        return self._leaving or self.is_over

    @property
    def needs_stream(self) -> bool:
        return self._wanted and not self._ended and self._due <= time.monotonic()

    @property
    def needs_another_stream(self) -> bool:
        """Whether the stream brought much output and then went silent; see ``RENEW``."""
        is_quiet = self._heard < time.monotonic() - RENEW[1]
        return self._opened > 0 and self._brought > RENEW[0] and is_quiet

    @property
    def is_done(self) -> bool:
        """Whether nobody wants it, or all of it was stored."""
        return not self._wanted or (self._ended and not self._pieces)

    @cached_property
    def node(self) -> str:
        """Its node, which cannot change because the container has started."""
        return str(self.pod["spec"].get("nodeName", ""))

    def on_change(self, pod: PodView | None) -> bool:
        """Take in its pod, ``None`` if that is gone; ``True`` if it needs a stream sooner."""
        before = self._over, self._leaving
        if pod is None:
            self._gone = self._gone or time.monotonic()
            self._over = self._over or self._gone
        else:
            self.pod, self._leaving = pod.manifest, pod.is_leaving
            if self._is_restarted() and not self._reader.is_verified:
                self.cut()  # the stream may be the next start's, and silent for long
            if not pod.is_running:
                self._over = self._over or time.monotonic()
        is_news = (self._over, self._leaving) != before
        self._due = 0.0 if is_news else self._due
        return is_news

    def take(self, cursor: str, limit: int, *, away: str = "") -> LogChunk:
        """Take the output after ``cursor``. If the last chunk did not end there, the log is read
        again from there: another process stored it, or storing failed. ``away``: why its node is
        not asked."""
        if not self.is_read_from(cursor):
            self._wanted, self._ended = True, False
            self._taken, self._due, self.late = cursor, 0.0, self.late or away
            self._pieces.clear()
            self._reader, self._whole_at, self._is_read = Reader(LogCursor.of(cursor)), 0.0, False
            self.cut()
            return LogChunk(cursor=cursor, late=self.late, awaited=not self.late)
        data, place = self._pieces.take(limit)
        self._taken = place or self._taken
        self.lock.notify_all()
        ended = self._ended and not self._pieces
        late = "" if ended else self.late
        return LogChunk(data, self._taken, ended, late, awaited=not (ended or late))

    def is_read_from(self, cursor: str) -> bool:
        """Whether the next chunk starts at ``cursor``."""
        return self._wanted and cursor == self._taken

    def retry(self) -> None:
        """Try again soon, because its node seems to be back."""
        self.late, self._due = "", 0.0

    def forget(self) -> None:
        """Stop: nobody wants the log any more."""
        self._wanted = False
        self._pieces.clear()
        self.cut()

    def delay(self, why: str) -> bool:
        """Report why no output comes; ``False`` if nobody waits, or it was said already."""
        waits = self._wanted and not (self._ended or self._opened or self.late)
        self.late = why if waits else self.late
        return waits

    def cut(self) -> None:
        """End the stream. The next one continues from the same place."""
        self._halted = True
        if self._response is not None:
            with suppress(ValueError, OSError, RuntimeError):  # it may be over by itself
                self._response.shutdown()
        self.lock.notify_all()

    def serve(self, api: Api, tell: Callable[[], None]) -> None:
        """Read the log until its container ends; ``tell`` that there is new output, or no more.
        ``EngineUnavailable`` if the node did not answer at all."""
        with self.lock:
            reader, self._halted, over = self._reader, False, self._over
            source = LogSource(api, self.pod, self.container, self.log.start < self._restarts)
        before, is_last = reader.state, over > 0 and time.monotonic() - over > SETTLING
        asked = None if over else time.time()
        try:
            with source.open(follows=not over, since=reader.cursor.since) as response:
                if self._begin(source, reader, response, asked):
                    tell()  # its node answers
                    try:
                        self._bring(reader, response, tell)
                    finally:
                        self._put(reader, reader.pause())
                    is_clear = not reader.was_odd or self._cuts > ODD
                    if is_last and is_clear and reader.state == before:
                        reader.verify()
                        self._finish(reader, was_whole=True)
        except starts.Superseded:
            with self.lock:
                self._halted |= self._is_restarted(self.log.start + 1)
        except EngineUnavailable:
            if not self._opened:
                raise
        except Denied as refusal:
            with self.lock:
                self.late = str(refusal)
        except EngineRefused:  # deleted with its pod or by its node, or not there yet
            with self.lock:
                if self._over:
                    self._finish(reader, is_gone=not self._is_read)
        finally:
            with self.lock:
                self._response, self._opened = None, 0.0
                self._cuts = 0 if reader.state != before else self._cuts + 1
                self._due = time.monotonic() + self._pause(was_over=bool(over))
        tell()

    def _pause(self, *, was_over: bool) -> float:
        """Seconds until the next stream."""
        if self._halted or (self._over and not was_over):
            return 0.0
        pause = min(PAUSE[0] * 2 ** min(self._cuts, 8), PAUSE[1])
        return max(SETTLING, pause if self._cuts > 1 else 0.0) if self._over else pause

    def _is_restarted(self, restarts: int = 0) -> bool:
        """Whether the container was restarted again. The API may lag behind ``restarts``."""
        restarts = max(restarts, starts.restarts(self.pod, self.container))
        is_news, self._restarts = restarts > self._restarts, max(restarts, self._restarts)
        if self.log.start < self._restarts:
            self._over = self._over or time.monotonic()
        return is_news

    def _begin(
        self, source: LogSource, reader: Reader, response: BaseHTTPResponse, asked: float | None
    ) -> bool:
        """Start reading: the node answers, and follows the log if ``asked`` to at a time. ``False``
        if the log is that of another start."""
        latest_pod = source.latest_pod()
        with self.lock:
            self.pod = latest_pod or self.pod  # which existed a moment ago
            source = replace(source, pod=self.pod)
            self._is_restarted()
            if self._restarts > self.log.start + 1:
                raise NotFound("It was restarted twice.")
            if source.previous != (self.log.start < self._restarts):
                self._halted = True
                return False
            self._response, self._brought, self.late = response, 0, ""
            self._opened = self._heard = time.monotonic()
            ended = starts.end(source.pod, self.container, self.log.start)
            had_all = asked is None and rotation.was_last(self._whole_at, ended)
            reader.connect(
                had_all=had_all,
                beginning=starts.beginning(source, self.log.start),
                followed=rotation.Followed(source.newest, asked) if asked else None,
                verify=starts.LogAnswer(source, self.log.start, reader.cursor, self._hold).check,
            )
            self._whole_at = 0.0
            return True

    def _hold(self, seconds: float) -> None:
        """Leave the answer unread for so long, which is not part of its turn."""
        with self.lock:
            if self.lock.wait_for(lambda: self._halted, seconds):
                raise EngineUnavailable("The stream was cut.")
            self._opened = time.monotonic()

    def _bring(self, reader: Reader, response: BaseHTTPResponse, tell: Callable[[], None]) -> None:
        with answered():
            for block in response.stream(BLOCK_BYTES):
                self._heard = inf
                data = reader.feed(block)  # may send a request to the node
                with self.lock:
                    while self._pieces.is_full and self._is_current(reader):
                        self.lock.wait()
                    if reader is not self._reader:
                        return
                    self._brought, self._heard = self._brought + len(block), time.monotonic()
                    self._is_read &= not data
                    self._put(reader, data)
                    if self._halted:
                        return
                if data:
                    tell()
        with self.lock:
            if self._is_current(reader) and reader.has_all:
                self._is_read = True  # a node that removed the container adds a message
                self._whole_at = 0.0 if reader.was_odd else time.time()

    def _put(self, reader: Reader, data: bytes) -> None:
        with self.lock:
            if data and reader is self._reader and self._wanted:
                self._pieces.put(data, str(reader.cursor))

    def _is_current(self, reader: Reader) -> bool:
        return reader is self._reader and not self._halted

    def _finish(self, reader: Reader, *, was_whole: bool = False, is_gone: bool = False) -> None:
        """The log is complete. ``was_whole``: the last answer had all of it."""
        ended = starts.end(self.pod, self.container, self.log.start) if was_whole else None
        with self.lock:
            if self._is_current(reader):
                self._put(reader, reader.flush(ended, is_gone=is_gone))
                self._ended, self.late = True, ""
