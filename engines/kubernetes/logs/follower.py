"""Follow the log of one start of a container, and buffer its output until it is stored.

A kubelet reads the newest file of a log. It continues with the next file when it rotates the log,
but only once it has sent all of the file that it began with; and if it is behind by a whole file,
it leaves that out, and tells nobody. So a log is first read to its end, and then followed; and an
answer that falls behind is requested again, which shows whether output is missing.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from threading import Condition
from uuid import UUID

from urllib3.response import BaseHTTPResponse

from engines.base import EngineRefused, EngineUnavailable, Manifest
from engines.kubernetes.client.api import Api, Denied, translate_api_errors
from engines.kubernetes.logs.buffer import Buffer
from engines.kubernetes.logs.cursor import LogCursor, parse_stamp
from engines.kubernetes.logs.reader import Reader
from engines.kubernetes.logs.source import LogSource, Superseded, ended_starts
from engines.kubernetes.status.pod import PodView
from engines.logs import Log, LogChunk

BLOCK_BYTES = 64 * 1024
MOST_MESSAGES = 4  # answers in a row with a node's message until its container counts as removed
#: Seconds in which a log is rotated once at most. By default, kubelets look every 10 seconds for
#: full files; a busy one may be late with one look, and in time with the next.
ROTATION_SECONDS = 5.0
PAUSE_SECONDS = (0.5, 30.0)  # seconds until a cut-off log is requested again: at first, and at most


@dataclass(eq=False)
class Follower:
    """Reads the log of one start from a ``cursor`` on. ``log.start`` is the number of that start.

    Callers hold ``lock``, which all logs of a cluster share, because the watch, the collector and
    the threads of streams all change followers. Only ``serve`` is called without it: it runs in
    the thread of a stream, waits for the cluster, and takes the lock as needed. The reader belongs
    to that thread. To read from another position, put a copy in its place, which begins anew.
    """

    workload_id: UUID
    log: Log
    pod: Manifest
    container: str
    lock: Condition
    cursor: str | None = None  # after the last chunk; ``None`` if nobody wants the log
    late: str = ""  # why no output comes, once that was reported
    is_over: bool = False  # has its container ended?
    is_previous: bool = False  # has the next start begun?
    is_being_deleted: bool = False  # is its pod being deleted?
    deleted_at: float = 0.0  # when its pod was deleted, on the monotonic clock; 0 before
    served_at: float = 0.0  # when it last got a stream
    opened_at: float = field(default=0.0, init=False)  # when its node answered; 0 before
    _due_at: float = field(default=0.0, init=False)  # when it needs a stream again
    _failures: int = field(default=0, init=False)  # streams in a row that brought nothing
    _response: BaseHTTPResponse | None = field(default=None, init=False)
    _is_cut: bool = field(default=False, init=False)  # shall another stream continue at once?
    _shortest_delay: float = field(default=inf, init=False)  # of a line, in seconds, by two clocks
    _empty_at: float = field(default=0.0, init=False)  # when it had no output yet (Unix time)
    _is_late: bool = field(default=False, init=False)  # was it not looked at for long before?
    _has_all: bool = field(default=False, init=False)  # read to an end, and nothing came since
    _is_complete: bool = field(default=False, init=False)  # all output was read
    _buffer: Buffer = field(default_factory=Buffer, init=False)

    def __post_init__(self) -> None:
        self._reader = Reader(LogCursor.parse(self.cursor or ""))

    @cached_property
    def key(self) -> tuple[str, int]:
        return self.log.origin, self.log.start

    @cached_property
    def node(self) -> str:
        """Its node, which cannot change because the container has started."""
        return str(self.pod["spec"].get("nodeName", ""))

    @property
    def urgency(self) -> tuple[bool, float]:
        """Whether output may be lost unless it is read soon, and how long it has waited."""
        return self.is_being_deleted or self.is_over, -self.served_at

    @property
    def is_unread(self) -> bool:
        """Whether somebody wants the log, and it was not read to its end."""
        return self.cursor is not None and not self._is_complete

    @property
    def needs_stream(self) -> bool:
        return self.is_unread and self._due_at <= time.monotonic()

    @property
    def is_done(self) -> bool:
        """Whether nobody wants it, or all of it was stored."""
        return not self.is_unread and not self._buffer

    def on_change(self, pod: PodView | None) -> bool:
        """Take in its pod, ``None`` if that is gone; ``True`` if it needs a stream sooner."""
        before = (self.is_over, self.is_being_deleted, self.is_previous)
        if pod is None:
            self.deleted_at = self.deleted_at or time.monotonic()
            self.is_over = True
            self.lock.notify_all()  # the API can tell no more of an answer that is left unread
        else:
            self.pod = pod.manifest
            self.is_being_deleted = pod.is_being_deleted
            self.is_previous |= ended_starts(self.pod, self.container) > self.log.start
            self.is_over |= self.is_previous or not pod.is_running
        is_news = (self.is_over, self.is_being_deleted, self.is_previous) != before
        if is_news:
            self._due_at = 0.0
            if pod is not None and not self._reader.is_checked:
                self.cut()  # the stream may be the next start's, and silent for long
        return is_news

    def take(self, limit: int) -> LogChunk:
        """Take the output after ``cursor``."""
        data, after = self._buffer.take(limit)
        self.cursor = after or self.cursor or ""
        self.lock.notify_all()  # a full buffer may have room again
        is_ended = self._is_complete and not self._buffer
        late = "" if is_ended else self.late
        return LogChunk(data, self.cursor, is_ended, late, awaited=not (is_ended or late))

    def retry(self) -> None:
        """Try again soon, because its node seems to be back."""
        self.late = ""
        self._due_at = 0.0

    def stop(self) -> None:
        """End for good, because nobody wants the log any more."""
        self._is_complete = True
        self._buffer.clear()
        self.cut()

    def cut(self) -> None:
        """End the stream. The next one continues from the same position."""
        self._is_cut = True
        if self._response is not None:
            with suppress(ValueError, OSError, RuntimeError):  # it may be over by itself
                self._response.shutdown()
        self.lock.notify_all()

    def serve(self, api: Api, tell: Callable[[], None]) -> None:
        """Read the log to its present end, and follow it until its container ends; ``tell`` that
        there is new output, or no more. ``EngineUnavailable`` if the node did not answer at all."""
        with self.lock:
            if self._is_complete:
                return
            was_over = self.is_over
            self._is_cut = False
        before = str(self._reader.cursor)
        try:
            is_at_end = self._read_answer(api, tell, follows=False)
            if is_at_end and not self.is_over:
                self._read_answer(api, tell, follows=True)
        except Superseded:
            with self.lock:
                self.is_previous = True
                self.is_over = True
                self._is_cut = True  # continue with the previous log
        except EngineUnavailable:
            if not self.opened_at:
                raise
        except Denied as refusal:
            with self.lock:
                self.late = str(refusal)
        except EngineRefused:  # deleted with its pod or by its node, or not there yet
            if self.is_over:
                self._complete(self._reader.give_up(has_all=self._has_all))
        finally:
            with self.lock:
                if str(self._reader.cursor) != before:
                    self._failures = 0
                elif not self._is_cut:
                    self._failures += 1
                first, longest = PAUSE_SECONDS
                is_due = self._is_cut or self.is_over != was_over
                pause = 0.0 if is_due else min(first * 2 ** min(self._failures, 8), longest)
                self._due_at = time.monotonic() + pause
                self.opened_at = 0.0
                self._response = None
        tell()

    def _read_answer(self, api: Api, tell: Callable[[], None], *, follows: bool) -> bool:
        """Read an answer that ``follows`` the log, or ends at its present end. ``True`` if it came
        to its end, and the container had not ended before."""
        with self.lock:
            was_over = self.is_over
            source = LogSource(
                api, self.pod, self.container, self.log.start, is_previous=self.is_previous
            )
        with source.open(follows=follows, since=self._reader.cursor.since) as response:
            self._begin(source, response)
            tell()  # its node answers
            self._receive(response, tell, follows=follows)
        if self._is_cut:
            return False
        if rest := self._reader.end():
            self._put(rest)
        self._record_end(follows=follows, was_over=was_over)
        if self._reader.has_message:
            if was_over and self._failures >= MOST_MESSAGES:
                self._complete(self._reader.give_up(has_all=self._has_all))
            return False
        if was_over:
            self._complete(self._reader.finish())
        return not was_over

    def _begin(self, source: LogSource, response: BaseHTTPResponse) -> None:
        """Start reading: the node answers."""
        source.refresh()
        with self.lock:
            self.pod = source.pod
            self._response = response
            self.opened_at = self.opened_at or time.monotonic()
            self.late = ""
            self._raise_if_cut()
        is_first_read = not self._reader.cursor.stamp
        self._is_late = time.time() - max(source.started_at, self._empty_at) > ROTATION_SECONDS

        def check(first: bytes) -> bool:
            source.check(first, is_first_read=is_first_read, wait=self._wait)
            if not (self._is_late and first):
                return False
            # A line from just after the start is in the first file, which has the head.
            return parse_stamp(first).timestamp() - source.started_at > ROTATION_SECONDS

        self._reader.connect(check)

    def _wait(self, seconds: float) -> None:
        """Leave an answer unread for so long, which does not count as its turn."""
        with self.lock:
            self.lock.wait_for(lambda: self._is_cut or self.deleted_at, seconds)
            self._raise_if_cut()
            self.opened_at = time.monotonic()

    def _raise_if_cut(self) -> None:
        if self._is_cut:
            raise EngineUnavailable("The stream was cut.")

    def _receive(
        self, response: BaseHTTPResponse, tell: Callable[[], None], *, follows: bool
    ) -> None:
        with translate_api_errors():
            for block in response.stream(BLOCK_BYTES):
                stamp = self._reader.cursor.stamp
                text = self._reader.feed(block)  # may send a request to the node
                if self._reader.cursor.stamp != stamp and self._is_behind() and follows:
                    self._is_cut = True
                if text:
                    self._put(text)
                    tell()
                    with self.lock:
                        self.lock.wait_for(lambda: self._is_cut or not self._buffer.is_full)
                if self._is_cut:
                    return

    def _is_behind(self) -> bool:
        """Whether the last line came so late that the node may leave out a file. Clocks may differ,
        so the shortest delay of a line so far counts as none."""
        delay = time.time() - parse_stamp(self._reader.cursor.stamp).timestamp()
        is_behind = delay - self._shortest_delay > ROTATION_SECONDS
        # Begin anew after that: a clock may have been set.
        self._shortest_delay = inf if is_behind else min(self._shortest_delay, delay)
        return is_behind

    def _record_end(self, *, follows: bool, was_over: bool) -> None:
        """Record what the end of an answer says of the log."""
        reader = self._reader
        # A node that removed the container says so instead of sending its log, or after it: then
        # what was read so far was all.
        is_end = reader.is_removed or ((follows or was_over) and not reader.has_message)
        has_log = bool(reader.cursor.stamp) or not reader.has_message
        with self.lock:
            self._has_all |= is_end and has_log and not reader.is_seeking
            if not (self._is_late or reader.cursor.stamp or reader.has_message):
                self._empty_at = time.time()

    def _put(self, text: bytes) -> None:
        with self.lock:
            self._has_all = False
            if not self._is_complete:  # else it was stopped
                self._buffer.put(text, str(self._reader.cursor))

    def _complete(self, text: bytes) -> None:
        if text:
            self._put(text)
        with self.lock:
            self._is_complete = True
            self.late = ""
