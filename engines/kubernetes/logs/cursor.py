"""Where a log was left off, and going on from there without loss or doubling. Pure.

The API knows no byte offsets. It puts the time before each record, and gives the records since a
second that one names. A record is a line, or a part of one: nodes write down long ones in parts,
and kubelets before 1.27 put a time before each of these. So a place in a log is the record with the
latest time seen so far, how many records came from that one on, and how much of an unfinished one.
Reading goes on with a stretch that was read before, in which that record is found again; where it
is missing, its file was rotated away, and all of what is there is new. If nobody read it for a
while, what came between may be lost, and a line of ours says so; see ``rotation.py``.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self

from engines.kubernetes.logs import rotation

LINE = re.compile(rb"^(" + rotation.STAMP + rb") ([^\n]*\n)", re.MULTILINE)
ZONE = re.compile(rb"(?:Z|[+-]\d\d:\d\d)$")
ANY_LINE = re.compile(rb"[^\n]*\n")
TIME = re.compile(rb"(" + rotation.STAMP + rb") ")
LONGEST = 40  # bytes of a time
HELD = 1024  # bytes of an unfinished line that wait for what comes next
#: What a kubelet appends to an answer that it cannot go on with, not always on a line of its own.
TROUBLE = re.compile(
    rb"(rpc error: code = \w+ desc = |unable to retrieve container logs for "
    rb"|failed to (try resolving symlinks|open log file|wait logs|get container status))[^\n]*\Z"
)
#: The two streams of a container may be written down in another order than their times say.
MARGIN = timedelta(seconds=1)


@dataclass
class LogCursor:
    """``whole`` records came from the first of ``stamp`` on, the latest time seen so far, and
    ``part`` bytes of the next. None is older than ``oldest``: clocks may be set back. ``is_lost``:
    what followed was rotated away for good, and that is said.
    """

    stamp: bytes = b""
    oldest: bytes = b""
    whole: int = 0
    part: int = 0
    is_lost: bool = False

    @classmethod
    def of(cls, text: str) -> Self:
        """The place that :meth:`__str__` wrote down; the beginning, if there is no text."""
        if not text:
            return cls()
        stamp, oldest, whole, part, *lost = text.split(" ")
        return cls(stamp.encode(), oldest.encode(), int(whole), int(part), bool(lost))

    def __str__(self) -> str:
        if not self.stamp:
            return ""
        place = f"{self.stamp.decode()} {self.oldest.decode()} {self.whole} {self.part}"
        return f"{place} lost" if self.is_lost else place

    @property
    def since(self) -> str:
        """From when on to ask, in whole seconds, for the API drops the rest; or empty."""
        if not self.stamp:
            return ""
        at = datetime.fromisoformat(self.oldest.decode()).astimezone(UTC) - MARGIN
        return at.strftime("%Y-%m-%dT%H:%M:%SZ")

    def begin(self, stamp: bytes) -> None:
        """A record begins."""
        if stamp > self.stamp:
            self.stamp, self.oldest, self.whole, self.is_lost = stamp, stamp, 0, False
        self.oldest = min(self.oldest, stamp)
        self.part = 0

    def add(self, stamps: list[bytes]) -> None:
        """Whole records."""
        latest, first = max(stamps), 0
        if latest > self.stamp:
            first = stamps.index(latest)
            self.stamp, self.oldest, self.whole, self.is_lost = latest, latest, 0, False
        self.oldest = min(self.oldest, *stamps[first:])
        self.whole += len(stamps) - first
        self.part = 0


class Reader:
    """Turns what the API sends into what the program wrote, from ``cursor`` on.

    A line without a time is no output: it is the end of one that began before what was asked for,
    or a word of the node's about its own troubles. Such a word may also follow an unfinished line,
    so the last of that is ``held`` back until it is known to be over. ``was_odd``: there were any.
    ``is_doubtful``: the node was kept waiting so long that it may leave out a file.
    """

    def __init__(self, cursor: LogCursor) -> None:
        self.cursor, self.held = cursor, b""
        self._stamp = b""  # of the record that is being read
        self._gap = b""  # what stands before the next record
        self.connect()

    def connect(
        self, *, was_away: bool = True, beginning: rotation.Beginning | None = None
    ) -> None:
        """A new answer begins, with a stretch that is known. ``was_away``: nobody read for long
        enough that the node may have rotated away what nobody saw. ``beginning``: of the container,
        which says the same of the first lines."""
        self._was_away, self.is_doubtful = was_away, False
        self._beginning = None if self.cursor.stamp else beginning
        self._rest = b""
        self._in_line = self._is_junk = self.was_odd = False
        self._seeking = bool(self.cursor.stamp)  # is the record of the latest time yet to come?
        self._old_records, self._old_bytes = self.cursor.whole, self.cursor.part
        self._skips = False
        self._is_stale = True  # does what is held come once more?

    @property
    def state(self) -> tuple[str, bytes]:
        return str(self.cursor), self.held

    def feed(self, data: bytes) -> bytes:
        """What is new. ``cursor`` is then right behind it."""
        data = self._rest + data
        end = data.rfind(b"\n") + 1
        parts = self._lines(data[:end])
        self._rest = b""
        if end < len(data):
            parts += self._walk(data[end:], keep=LONGEST)
        return b"".join(parts)

    def pause(self) -> bytes:
        """What is new now that the answer is over: what could have become a time is none."""
        rest, self._rest = self._rest, b""
        return b"".join(self._walk(rest)) if rest else b""

    def flush(self, ended: str | None = None) -> bytes:
        """What was held back, when nothing more will come. ``ended``: when the container did, or
        empty, where the last answer was whole: a place that it does not have is gone."""
        text, self.held = TROUBLE.sub(b"", self.held), b""
        self.cursor.part += len(text)
        if ended is not None and self._lacks_tail(ended):
            self.cursor.is_lost = True
            text += (b"\n" if self.cursor.part else b"") + rotation.ROTATED
        return text

    def _lacks_tail(self, ended: str) -> bool:
        """A log may also be rotated when all of it was read."""
        if not self._seeking or self.was_odd or self.cursor.is_lost:
            return False
        return self._was_away or rotation.is_cut_off(self.cursor.stamp, ended)

    def _lines(self, text: bytes) -> list[bytes]:
        """Whole lines, but for the first, which may have begun before."""
        parts, at = [], 0
        while at < len(text) and (self._in_line or self._is_junk or self._is_watchful):
            end = text.index(b"\n", at) + 1
            parts += self._walk(text[at:end], keep=0)
            at = end
        text = text[at:]
        lines = LINE.findall(text)
        if not lines:
            return parts
        zone = ZONE.search(lines[0][0])
        if zone and text.count(zone[0] + b" ") != len(lines):  # there may be times within lines
            return parts + [part for line in ANY_LINE.findall(text) for part in self._walk(line)]
        parts.append(b"" if self._is_stale else self.held)
        self.held, self._is_stale = b"", False
        self.cursor.add([stamp for stamp, _ in lines])
        self._stamp = lines[-1][0]
        return parts + [line for _, line in lines]

    def _walk(self, text: bytes, *, keep: int = 0) -> list[bytes]:
        """A line, or the next of it but for the last ``keep`` bytes, in which a time may begin."""
        parts, at, limit = [], 0, max(len(text) - keep, 0)
        ends = text.endswith(b"\n")
        if not self._in_line and not self._is_junk:
            start = TIME.match(text)
            if start:
                self._begin(start[1])
                at = start.end()
                self._in_line = True
            elif limit or ends:
                self._is_junk = self.was_odd = True
            else:
                self._rest = text
                return []
        if self._in_line:
            for time in TIME.finditer(text, at):
                if time.start() < limit and time[1] >= self._stamp:  # earlier: the program's own
                    parts.append(self._take(text[at : time.start()], ends=True))
                    self._begin(time[1])
                    at = time.end()
            limit = max(limit, at)
            parts.append(self._take(text[at:limit], ends=ends and not keep))
            self._rest = text[limit:]
        if ends:
            self._in_line = self._is_junk = False
        return parts

    @property
    def _is_behind(self) -> bool:
        """Whether what comes next is known already."""
        return self._seeking or bool(self._old_records or self._old_bytes)

    @property
    def _is_watchful(self) -> bool:
        """Whether each line is looked at by itself, for what may be missing before it."""
        return self._is_behind or self.is_doubtful or self._beginning is not None

    def _begin(self, stamp: bytes) -> None:
        before, self._stamp = self._stamp, stamp
        if self._beginning is not None:
            self._gap, self._beginning = self._beginning.notice(stamp), None
        if self.is_doubtful and before and rotation.seconds(before, stamp) > rotation.SKIPPED:
            self._gap = rotation.ROTATED
        if self._seeking and stamp >= self.cursor.stamp:
            self._seeking = False
            if stamp > self.cursor.stamp:  # rotated away, and the rest of what is held with it
                self._old_records = self._old_bytes = 0
                self._gap = self.held
                if self._was_away:
                    self._gap += b"\n" if self.held or self.cursor.part else b""
                    self._gap += rotation.ROTATED
                self.held, self._is_stale = b"", False
        self._skips = self._seeking or self._old_records > 0
        if self._skips:
            return
        if self._is_stale:
            self.held, self._is_stale = b"", False
        if not self._old_bytes:
            self.cursor.begin(stamp)

    def _take(self, text: bytes, *, ends: bool) -> bytes:
        """Text of the record that began last, which may end with it."""
        if self._skips:
            if ends and not self._seeking:
                self._old_records -= 1
            return b""
        gap, self._gap = self._gap, b""
        repeated = min(self._old_bytes, len(text))
        self._old_bytes -= repeated
        text = self.held + text[repeated:]
        if ends:
            self.cursor.whole, self.cursor.part, self._old_bytes = self.cursor.whole + 1, 0, 0
            self.held = b""
            return gap + text
        cut = max(len(text) - HELD, 0)
        text, self.held = text[:cut], text[cut:]
        self.cursor.part += len(text)
        return gap + text
