"""Follow the log of one start of a container, and buffer its output until it is stored."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import inf
from threading import Condition
from uuid import UUID

from urllib3.response import BaseHTTPResponse

from engines.base import EngineRefused, EngineUnavailable, Manifest
from engines.kubernetes.client.api import Api, Denied, translate_api_errors
from engines.kubernetes.logs.buffer import Buffer, SharedBuffer
from engines.kubernetes.logs.cursor import LogCursor
from engines.kubernetes.logs.reader import Reader
from engines.kubernetes.logs.source import LogSource, Superseded, ended_starts
from engines.kubernetes.status.pod import PodView
from engines.logs import Log, LogChunk

BLOCK_BYTES = 64 * 1024
SETTLING_SECONDS = 1.0  # seconds that a log may still grow after its container has ended
MOST_MESSAGES = 4  # answers in a row with a node's message until they count as complete
#: A log that brought so many bytes, and then nothing, is requested again after so many seconds, and
#: once more. By default a node looks at its logs every ten seconds, and begins a new file for each
#: that has grown to 10 MB. Kubelets before 1.27 then stop following it. Newer ones go on with the
#: file that is the newest when they come to the end of theirs, and tell nobody if they left out
#: another.
RENEW_BYTES = 1024**2
RENEW_SECONDS = (2.0, 12.0)
PAUSE_SECONDS = (0.5, 30.0)  # seconds until a cut-off log is requested again: at first, and at most


@dataclass
class LogStream:
    """One answer of the API. Only the thread that reads it changes it, except for ``is_cut``: it
    shall end, and the next one continues from the same position. Times are monotonic."""

    response: BaseHTTPResponse | None = None
    opened_at: float = 0.0  # when the node answered; 0 before
    heard_at: float = inf  # when data last came; infinite while it is processed
    is_cut: bool = False


@dataclass
class Follower:
    """The log of one start, and its buffer. ``log.start`` is the number of that start.

    Callers hold ``lock``, which all logs of a cluster share, because the watch, the collector and
    the threads of streams all change followers. Only ``serve`` is called without it: it runs in
    the thread of a stream, waits for the cluster, and takes the lock as needed. The reader belongs
    to that thread. ``take`` never touches the reader of a stream that may still run, but puts
    another in its place; from then on ``_stream`` is a different one, and what the old stream
    brings is dropped.
    """

    workload_id: UUID
    log: Log
    pod: Manifest
    container: str
    lock: Condition
    shared: SharedBuffer
    late: str = ""  # why no output comes, once that was reported
    _is_previous: bool = False  # has the next start begun?
    _ended_at: float = 0.0  # when its container ended, on the monotonic clock; 0 before
    _deleted_at: float = 0.0  # when its pod was deleted
    _is_being_deleted: bool = False  # is its pod being deleted?
    _last_cursor: str | None = None  # after the last chunk; ``None`` if nobody wants the log
    _due_at: float = 0.0  # when it needs a stream again
    _failures: int = 0  # streams in a row that brought nothing
    _received: int = 0  # bytes of output since it was last renewed
    _renewals: int = 0  # in a row that brought nothing
    _has_all: bool = False  # a stream reached the end, and none brought more since
    _is_complete: bool = False  # all output was read
    _stream: LogStream | None = None
    _reader: Reader = field(default_factory=lambda: Reader(LogCursor()))

    def __post_init__(self) -> None:
        self._buffer = Buffer(self.shared)

    @cached_property
    def key(self) -> tuple[str, int]:
        return self.log.origin, self.log.start

    @cached_property
    def node(self) -> str:
        """Its node, which cannot change because the container has started."""
        return str(self.pod["spec"].get("nodeName", ""))

    @property
    def opened_at(self) -> float:
        """When its node answered, on the monotonic clock; 0 if it has not."""
        return self._stream.opened_at if self._stream else 0.0

    def is_deleted_for(self, seconds: float) -> bool:
        """Whether its pod has been gone for so long."""
        return self._deleted_at > 0 and time.monotonic() - self._deleted_at > seconds

    @property
    def is_over(self) -> bool:
        """Whether its container has ended."""
        return self._ended_at > 0

    @property
    def is_ending(self) -> bool:
        """Whether output may be lost unless it is read soon."""
        return self._is_being_deleted or self.is_over

    @property
    def needs_stream(self) -> bool:
        is_wanted = self._last_cursor is not None and not self._is_complete
        return is_wanted and self._due_at <= time.monotonic()

    @property
    def needs_another_stream(self) -> bool:
        """Whether much output came and then nothing."""
        if self._stream is None or self._received < RENEW_BYTES:
            return False
        return self._stream.heard_at < time.monotonic() - RENEW_SECONDS[self._renewals]

    @property
    def is_done(self) -> bool:
        """Whether nobody wants it, or all of it was stored."""
        return self._last_cursor is None or (self._is_complete and not self._buffer)

    def on_change(self, pod: PodView | None) -> bool:
        """Take in its pod, ``None`` if that is gone; ``True`` if it needs a stream sooner."""
        before = (self.is_over, self._is_being_deleted, self._is_previous)
        if pod is None:
            self._deleted_at = self._deleted_at or time.monotonic()
            self._mark_ended()
            self.lock.notify_all()  # the API can tell no more of an answer that is left unread
        else:
            self.pod = pod.manifest
            self._is_being_deleted = pod.is_being_deleted
            self._is_previous |= ended_starts(self.pod, self.container) > self.log.start
            if self._is_previous or not pod.is_running:
                self._mark_ended()
        is_news = (self.is_over, self._is_being_deleted, self._is_previous) != before
        if is_news:
            self._due_at = 0.0
            if pod is not None and not self._reader.is_checked:
                self.cut()  # the stream may be the next start's, and silent for long
        return is_news

    def _mark_ended(self) -> None:
        self._ended_at = self._ended_at or time.monotonic()

    def take(self, cursor: str, limit: int, *, away: str = "") -> LogChunk:
        """Take the output after ``cursor``. If the last chunk did not end there, the log is read
        again from there: another process stored it, or storing failed. ``away``: why its node is
        not asked."""
        if cursor != self._last_cursor:
            self.forget()
            self._last_cursor = cursor
            self._reader = Reader(LogCursor.parse(cursor))
            self._has_all = False
            self._is_complete = False
            self._due_at = 0.0
            self.late = self.late or away
            return LogChunk(cursor=cursor, late=self.late, awaited=not self.late)
        data, after = self._buffer.take(limit)
        self._last_cursor = after or cursor
        self.lock.notify_all()  # a full buffer may have room again
        is_ended = self._is_complete and not self._buffer
        late = "" if is_ended else self.late
        return LogChunk(data, self._last_cursor, is_ended, late, awaited=not (is_ended or late))

    def is_read_from(self, cursor: str) -> bool:
        """Whether the next chunk starts at ``cursor``."""
        return cursor == self._last_cursor

    def retry(self) -> None:
        """Try again soon, because its node seems to be back."""
        self.late = ""
        self._due_at = 0.0

    def forget(self) -> None:
        """Stop: nobody wants the log any more."""
        self._last_cursor = None
        self._buffer.clear()
        self.cut()
        self._stream = None

    def report_delay(self, why: str) -> bool:
        """Report why no output comes; ``False`` if nobody waits, or it was reported already."""
        is_waiting = self._last_cursor is not None and not self._is_complete
        if not is_waiting or self.opened_at or self.late:
            return False
        self.late = why
        return True

    def cut(self) -> None:
        """End the stream. The next one continues from the same position."""
        if self._stream is not None:
            self._stream.is_cut = True
            if self._stream.response is not None:
                with suppress(ValueError, OSError, RuntimeError):  # it may be over by itself
                    self._stream.response.shutdown()
        self.lock.notify_all()

    def renew(self) -> None:
        """Request the log again, because its node may have begun another file."""
        self.cut()
        self._renewals += 1
        if self._renewals == len(RENEW_SECONDS):
            self._received = 0
            self._renewals = 0

    def serve(self, api: Api, tell: Callable[[], None]) -> None:
        """Read the log until its container ends; ``tell`` that there is new output, or no more.
        ``EngineUnavailable`` if the node did not answer at all."""
        stream = LogStream()
        with self.lock:
            if self._last_cursor is None:
                return
            self._stream = stream
            reader = self._reader
            is_over = self.is_over
            is_settled = is_over and time.monotonic() - self._ended_at > SETTLING_SECONDS
            source = LogSource(
                api, self.pod, self.container, self.log.start, is_previous=self._is_previous
            )
        before = str(reader.cursor)
        try:
            with source.open(follows=not is_over, since=reader.cursor.since) as response:
                self._begin(stream, source, reader, response)
                tell()  # its node answers
                self._receive(stream, reader, response, tell)
                has_come = not reader.has_message or self._failures > MOST_MESSAGES
                # One more look a while after the end that found nothing new was the last.
                is_last = is_settled and has_come and not stream.is_cut
                if is_last and str(reader.cursor) == before:
                    self._complete(stream, reader.finish())
        except Superseded:
            with self.lock:
                self._is_previous = True
                self._mark_ended()
                stream.is_cut = True  # continue with the previous log at once
        except EngineUnavailable:
            if not stream.opened_at:
                raise
        except Denied as refusal:
            with self.lock:
                self.late = str(refusal)
        except EngineRefused:  # deleted with its pod or by its node, or not there yet
            if self.is_over:
                self._complete(stream, reader.give_up(has_all=self._has_all))
        finally:
            with self.lock:
                if str(reader.cursor) != before:
                    self._failures = 0
                elif not stream.is_cut:
                    self._failures += 1
                self._due_at = time.monotonic() + self._pause(stream, was_over=is_over)
                if self._stream is stream:
                    self._stream = None
        tell()

    def _pause(self, stream: LogStream, *, was_over: bool) -> float:
        """Seconds until the next stream."""
        if stream.is_cut or (self.is_over and not was_over):
            return 0.0
        pause: float = min(PAUSE_SECONDS[0] * 2 ** min(self._failures, 8), PAUSE_SECONDS[1])
        if not self.is_over:
            return pause
        return max(SETTLING_SECONDS, pause) if self._failures > 1 else SETTLING_SECONDS

    def _begin(
        self, stream: LogStream, source: LogSource, reader: Reader, response: BaseHTTPResponse
    ) -> None:
        """Start reading: the node answers."""
        source.refresh()
        with self.lock:
            self.pod = source.pod
            stream.response = response
            stream.opened_at = time.monotonic()
            stream.heard_at = stream.opened_at
            self.late = ""
            if stream.is_cut:
                raise EngineUnavailable("The stream was cut.")
        is_first_read = not reader.cursor.stamp

        def check(first: bytes) -> bytes:
            wait = partial(self._wait, stream)
            source.check(first, is_first_read=is_first_read, wait=wait)
            return source.head_notice(first)

        reader.connect(check)

    def _wait(self, stream: LogStream, seconds: float) -> None:
        """Leave an answer unread for so long, which does not count as its turn."""
        with self.lock:
            self.lock.wait_for(lambda: stream.is_cut or self._deleted_at, seconds)
            if stream.is_cut:
                raise EngineUnavailable("The stream was cut.")
            stream.opened_at = time.monotonic()

    def _receive(
        self,
        stream: LogStream,
        reader: Reader,
        response: BaseHTTPResponse,
        tell: Callable[[], None],
    ) -> None:
        with translate_api_errors():
            for block in response.stream(BLOCK_BYTES):
                stream.heard_at = inf
                text = reader.feed(block)  # may send a request to the node
                if text:
                    self._put(stream, text)
                    tell()
                    self._wait_for_room(stream)
                if stream.is_cut:
                    return
                stream.heard_at = time.monotonic()
        if stream.is_cut:
            return
        if rest := reader.end():
            self._put(stream, rest)
        with self.lock:
            # A node that removed the container sends a message instead of the log: then what was
            # read before still was all.
            self._has_all |= not reader.is_seeking

    def _wait_for_room(self, stream: LogStream) -> None:
        with self.lock:
            began = time.monotonic()
            self.lock.wait_for(lambda: stream.is_cut or not self._buffer.is_full)
            # So long that the node may be late by more than one file.
            stream.is_cut |= time.monotonic() - began > RENEW_SECONDS[0]

    def _put(self, stream: LogStream, text: bytes) -> None:
        with self.lock:
            # ``take`` may have replaced the reader since: then the output is read once more.
            if stream is self._stream:
                self._has_all = False
                self._received += len(text)
                self._renewals = 0
                self._buffer.put(text, str(self._reader.cursor))

    def _complete(self, stream: LogStream, text: bytes) -> None:
        if text:
            self._put(stream, text)
        with self.lock:
            if stream is self._stream:
                self._is_complete = True
                self.late = ""
