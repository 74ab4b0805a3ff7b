"""What a node may have rotated away before it was read, and the lines of ours that say so. Pure.

A node looks at the logs of its containers every ten seconds by default, and begins a new file where
one has grown to 10 MB. The API hands out the newest file only. An answer that follows a log reads
the file it began with to its end, and goes on with the one that is the newest by then: a node that
is late leaves out what came between. Older kubelets (seen with 1.20) stay with the old file.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from engines.kubernetes.status.conditions import moment

STAMP = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(?:Z|[+-]\d\d:\d\d)"
STAMPS = re.compile(rb"^(" + STAMP + rb") ", re.MULTILINE)
#: Seconds after the start of a container from which on a first line is late, and in which the
#: fastest program fills no file. Starts are told in whole seconds, rounded down.
EARLY, PROMPT = 5.0, 1.0
SLACK = 1.0  # seconds by which the clock of a node may differ from ours
PAUSE = (1.0, 30.0)  # seconds until a node that did not answer is asked again: at first, at most
FILE_BYTES = 5 * 1000**2  # half of what is rotated by default
#: Bytes since the last answer up to which a program that pauses as it did before filled no file.
LITTLE = FILE_BYTES // 50
STRETCH = 1024**2  # bytes by which the pace of a program is judged
#: Seconds between two lines that may stand in two files with one between them. Such a one was begun
#: at one look and left at another, and 3 is the least that a node can be set to.
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
    """A container of which nothing was read yet: it began ``at`` a time, and had run for ``age``
    seconds when it was first asked for. ``stretch`` gives the first of what its node has, up to
    :data:`STRETCH` bytes, or nothing where the node does not answer.
    """

    at: str
    age: float
    stretch: Callable[[], bytes]

    def notice(self, first: bytes) -> bytes:
        """What to say before a log that begins with a line of the time ``first``. One that begins
        early lost something only if a file was full by then, or when it was asked for, as what was
        written later is not lost."""
        late = seconds(self.at.encode(), first)
        if late > EARLY and self.age > EARLY:
            return BEHEADED % late
        within = late if late <= self.age + SLACK else self.age
        is_lost = within > PROMPT and fills_file(self.stretch(), first, within)
        return BEHEADED % late if is_lost else b""


@dataclass
class Followed:
    """An answer that goes on with the next file of a node. What was written before it was ``sure``,
    in seconds since 1970, stands in no later file than the newest one, of which ``newest`` gives
    the first line, if only its time, or nothing where the node does not answer. ``begins`` is that
    time as the node said it last, and ``size`` how much of the file was read by then, at most.
    """

    newest: Callable[[], bytes]
    sure: float
    clock: Callable[[], float] = time.time
    begins: bytes = b""
    size: int = 0
    _usual: float = 0.0  # seconds between two lines that stood in this file
    _unsure: bytes = b""  # the last line before the node failed to answer
    _again: float = 0.0  # when to ask it again
    _pause: float = PAUSE[0]

    def may_leave_out(self, earlier: bytes, later: bytes, size: int) -> bool:
        """Whether a file may lie between two lines of a log that has ``size`` bytes, by their
        times."""
        if seconds(earlier, later) < SKIPPED:
            return False
        return earlier < self.begins or (size >= FILE_BYTES and not self._is_sure(later))

    def _is_usual(self, earlier: bytes, later: bytes, size: int) -> bool:
        """Whether the program goes on slowly, as it did by the last answer. A node that left out a
        file did nothing for longer than that, or the program wrote much."""
        is_slow = size - self.size < LITTLE and not self._unsure
        return is_slow and seconds(earlier, later) <= self._usual

    def _is_sure(self, stamp: bytes) -> bool:
        return _moment(stamp).timestamp() < self.sure - SLACK

    def check(self, before: bytes, after: bytes, size: int) -> tuple[bool, int]:
        """Whether one does, for all that the node knows, and how much of the file that it has may
        have been read, given the same of the file before: both lines stand in one file if the
        newest holds the first of them. That a node does not answer is said once; when it does, it
        answers for all lines since then."""
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
            if self.begins not in {b"", first[1]}:  # it has begun another file since it was asked
                size = max(size - self.size, 0)
                self._usual = 0.0
            self.begins, self.sure, self.size = first[1], asked, size
            self._usual = max(self._usual, 1.5 * pause) if first[1] <= before else 0.0
        if self.begins == after:
            self.size = size = 0
        return before < self.begins, size


def fills_file(text: bytes, first: bytes, within: float) -> bool:
    """Whether a program fills a file in so many seconds at the pace of ``text``, which it wrote
    from the time ``first`` on. A short text is all that it wrote up to now."""
    stamps = STAMPS.findall(text)
    if not stamps:
        return True  # the node does not answer, or has begun another file already
    span = seconds(first, stamps[-1])
    if len(text) < STRETCH:
        span = max(span, (datetime.now(UTC) - _moment(first)).total_seconds())
    return within * len(text) > FILE_BYTES * max(span, 0.001)


def was_last(at: float, end: str) -> bool:
    """Whether an answer that came to its end ``at`` a time, in seconds since 1970, did so for the
    end of its container. Others end like it when a kubelet is restarted, or a connection to it."""
    return bool(end) and at >= moment(end).timestamp()


def since(stamp: bytes, margin: timedelta = timedelta()) -> str:
    """From when on to ask for a line of that time, in whole seconds, for the API drops the rest."""
    return f"{_moment(stamp).astimezone(UTC) - margin:%Y-%m-%dT%H:%M:%SZ}"


def seconds(earlier: bytes, later: bytes) -> float:
    return (_moment(later) - _moment(earlier)).total_seconds()


def _moment(stamp: bytes) -> datetime:
    return datetime.fromisoformat(stamp.decode())
