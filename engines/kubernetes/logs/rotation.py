"""Tell whether a node may have rotated output away before it was read, and the lines of ours that
say so. Pure.

By default a node checks the logs of its containers every ten seconds, and begins a new file for
each that has grown to 10 MB. The API only returns the newest file. An answer that follows a log
reads its file to the end and continues with the file that is the newest then, so a node that is
late skips the files in between. Older kubelets (seen with 1.20) stay with the first file.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from engines.kubernetes.status.conditions import moment

STAMP = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(?:Z|[+-]\d\d:\d\d)"
STAMPS = re.compile(rb"^(" + STAMP + rb") ", re.MULTILINE)
#: Seconds after the start of a container: a first line later than ``EARLY`` is suspicious, and
#: until ``PROMPT`` even the fastest program does not fill a file. Starts are reported in whole
#: seconds, rounded down.
EARLY, PROMPT = 5.0, 1.0
SLACK = 1.0  # seconds by which a node's clock may differ from ours
PAUSE = (1.0, 30.0)  # the first and longest wait, in seconds, before asking a silent node again
FILE_BYTES = 5 * 1000**2  # half of the default size at which a file is rotated
#: A program that wrote fewer bytes since the node last answered, and pauses no longer than
#: before, has not filled a file.
LITTLE = FILE_BYTES // 50
STRETCH = 1024**2  # bytes from which the pace of a program is estimated
#: The least seconds between two lines for a whole file to lie between them. A file is begun at
#: one check of the node and left at a later one, and no node checks more often than every 3
#: seconds.
SKIPPED = 3.0
ROTATED = (
    b"[Trainyard] Output may be missing here: the node rotated the log away before it was read.\n"
)
GONE = (
    b"[Trainyard] Output may be missing here: the cluster no longer has this log, which was not "
    b"read to its end.\n"
)
BEHEADED = (
    b"[Trainyard] Output may be missing here: what the node still has begins %d s after the start "
    b"of the container.\n"
)


@dataclass(frozen=True)
class Beginning:
    """The beginning of a container's log, of which nothing was read yet. The container started
    ``at`` a time, and had run for ``age`` seconds when its log was first requested. ``stretch``
    returns the start of what the node still has, up to :data:`STRETCH` bytes, or nothing if the
    node does not answer."""

    at: str
    age: float
    stretch: Callable[[], bytes]

    def notice(self, first: bytes) -> bytes:
        """The line to show before a log whose first line has the timestamp ``first``; empty if
        nothing is missing. Even if that line is early, output is missing if the program filled a
        file before it. Only the time until the log was requested counts, as what was written later
        is not lost."""
        late = seconds(self.at.encode(), first)
        if late > EARLY and self.age > EARLY:
            return BEHEADED % late
        within = late if late <= self.age + SLACK else self.age
        is_lost = within > PROMPT and fills_file(self.stretch(), first, within)
        return BEHEADED % late if is_lost else b""


@dataclass
class Followed:
    """An answer that continues with the node's next file.

    Output written before ``sure``, in seconds since 1970, is in the file that was the newest when
    the node last answered, or in an earlier one. ``newest`` returns the first line of the node's
    newest file, of which only the timestamp matters, or nothing if the node does not answer.
    ``begins`` is the timestamp it last returned, and ``size`` is the most bytes of that file that
    had been read by then.
    """

    newest: Callable[[], bytes]
    sure: float
    clock: Callable[[], float] = time.time
    begins: bytes = b""
    size: int = 0
    _usual: float = 0.0  # the longest pause to expect between two lines of this file
    _unsure: bytes = b""  # the timestamp of the last line before the node stopped answering
    _again: float = 0.0  # when to ask it again, in seconds since 1970
    _pause: float = PAUSE[0]

    def may_leave_out(self, earlier: bytes, later: bytes, size: int) -> bool:
        """Whether the node may have skipped a file between two lines, judged by their timestamps
        and the ``size`` of the file so far, in bytes."""
        if seconds(earlier, later) < SKIPPED:
            return False
        return earlier < self.begins or (size >= FILE_BYTES and not self._is_sure(later))

    def _is_usual(self, earlier: bytes, later: bytes, size: int) -> bool:
        """Whether the program continues as slowly as at the node's last answer. If the node had
        skipped a file, the program would have paused for longer or written much."""
        is_slow = size - self.size < LITTLE and not self._unsure
        return is_slow and seconds(earlier, later) <= self._usual

    def _is_sure(self, stamp: bytes) -> bool:
        return _moment(stamp).timestamp() < self.sure - SLACK

    def check(self, before: bytes, after: bytes, size: int) -> tuple[bool, int]:
        """Ask the node whether it skipped a file between two lines, if that is not known yet.
        Returns the answer, and the most bytes of the current file that may have been read, where
        ``size`` is the same before this line.

        Both lines are in one file if the newest file begins no later than the first of them. While
        the node does not answer, the result is true once; its next answer then counts for all lines
        since.
        """
        if not self._is_sure(after):
            asked, pause = self.clock(), seconds(before, after)
            if asked < self._again or self._is_usual(before, after, size):
                return False, size
            first = STAMPS.match(self.newest())
            if first is None:
                is_told, self._unsure = bool(self._unsure), self._unsure or before
                self._again = self.clock() + self._pause
                self._pause = min(2 * self._pause, PAUSE[1])
                return not is_told, size
            before, self._unsure, self._pause = self._unsure or before, b"", PAUSE[0]
            if self.begins not in {b"", first[1]}:  # a new file since its last answer
                size = max(size - self.size, 0)
                self._usual = 0.0
            self.begins, self.sure, self.size = first[1], asked, size
            self._usual = max(self._usual, 1.5 * pause) if first[1] <= before else 0.0
        if self.begins == after:
            self.size = size = 0
        return before < self.begins, size


def fills_file(text: bytes, first: bytes, within: float) -> bool:
    """Whether a program fills a file in ``within`` seconds, at the pace at which it wrote ``text``
    since the timestamp ``first``. A short ``text`` is everything it has written so far."""
    stamps = STAMPS.findall(text)
    if not stamps:
        return True  # the node does not answer, or has already begun another file
    span = seconds(first, stamps[-1])
    if len(text) < STRETCH:
        span = max(span, (datetime.now(UTC) - _moment(first)).total_seconds())
    return within * len(text) > FILE_BYTES * max(span, 0.001)


def was_last(at: float, end: str) -> bool:
    """Whether an answer that ended ``at`` a time, in seconds since 1970, did so because its
    container had ended. An answer also ends that way when a kubelet restarts or a connection to it
    breaks."""
    return bool(end) and at >= moment(end).timestamp()


def since(stamp: bytes, margin: timedelta = timedelta()) -> str:
    """The time to ask the API from to get a line with this timestamp. In whole seconds, because the
    API ignores the rest."""
    return f"{_moment(stamp).astimezone(UTC) - margin:%Y-%m-%dT%H:%M:%SZ}"


def seconds(earlier: bytes, later: bytes) -> float:
    return (_moment(later) - _moment(earlier)).total_seconds()


def _moment(stamp: bytes) -> datetime:
    return datetime.fromisoformat(stamp.decode())
