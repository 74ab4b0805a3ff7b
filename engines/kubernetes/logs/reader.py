"""Going on from a place in a log, without loss or doubling. Pure.

Reading goes on with a stretch that was read before, in which the record of the place is found
again; where it is missing, its file was rotated away, and all of what is there is new. What came
between may be lost, unless the node had sent all of it, and a line of ours says so; see
``rotation.py``. Or the answer is of another start of the container; see ``starts.py``.
"""

import re
from collections.abc import Callable

from engines.kubernetes.logs import rotation
from engines.kubernetes.logs.cursor import LogCursor

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


class Reader:
    """Turns what the API sends into what the program wrote, from ``cursor`` on.

    A line without a time is no output: it is the end of one that began before what was asked for,
    or a word of the node's about its own troubles. Such a word may also follow an unfinished line,
    so the last of that is ``held`` back until it is known to be over. ``was_odd``: there were any.
    """

    def __init__(self, cursor: LogCursor) -> None:
        self.cursor, self.held = cursor, b""
        self._stamp = b""  # of the record that is being read
        self._gap = b""  # what stands before the next record
        self._is_open = False  # is the last line that was told unfinished?
        self._verify: Callable[[bytes], None] | None = None
        self.connect()

    def connect(
        self,
        *,
        had_all: bool = False,
        beginning: rotation.Beginning | None = None,
        followed: rotation.Followed | None = None,
        verify: Callable[[bytes], None] | None = None,
    ) -> None:
        """A new answer begins, with a stretch that is known. ``had_all``: the last one came to the
        end of its file, and of the container; so a file that the node has begun since was read up
        to where it begins. ``beginning``: of the container, which says what may lack before the
        first lines, as ``followed`` does of those that come later. ``verify`` hears the time of the
        first new line of an answer that does not hold the place, before anything is taken of it,
        and raises an exception where it is of another log."""
        self._had_all, self._followed, self._verify = had_all, followed, verify
        self._beginning = None if self.cursor.stamp else beginning
        self._rest = self._stamp = b""
        self._in_line = self._is_junk = self.was_odd = False
        self._seek()

    def _seek(self) -> None:
        """What comes next begins before what is known, or there."""
        self._seeking = bool(self.cursor.stamp)  # is the record of the latest time yet to come?
        self._old_records, self._old_bytes = self.cursor.whole, self.cursor.part
        self._skips = False
        self._is_stale = True  # does what is held come once more?

    @property
    def is_verified(self) -> bool:
        """Whether the answer is known to be of this log."""
        return self._verify is None

    def verify(self, first: bytes = b"") -> None:
        """Once for each answer; see :meth:`connect`."""
        verify, self._verify = self._verify, None
        if verify is not None:
            verify(first)

    @property
    def has_all(self) -> bool:
        """Whether the next answer may be one that ``had_all``, if this one came to an end: it held
        the place, or had nothing of a file that was begun since."""
        return self._had_all or not self._seeking

    @property
    def state(self) -> tuple[str, bytes]:
        return str(self.cursor), self.held

    def feed(self, data: bytes) -> bytes:
        """What is new. ``cursor`` is then right behind it."""
        data, self._rest = self._rest + data, b""  # also where `verify` refuses the answer
        end = data.rfind(b"\n") + 1
        parts = self._lines(data[:end])
        if end < len(data):
            parts += self._walk(data[end:], keep=LONGEST)
        return b"".join(parts)

    def pause(self) -> bytes:
        """What is new now that the answer is over: what could have become a time is none."""
        rest, self._rest = self._rest, b""
        return b"".join(self._walk(rest)) if rest else b""

    def flush(self, ended: str | None = None, *, is_gone: bool = False) -> bytes:
        """What was held back, when nothing more will come. ``ended``: when the container did, or
        empty, where the last answer was whole: a place that it does not have is gone. ``is_gone``:
        the whole log is."""
        text, self.held = TROUBLE.sub(b"", self.held), b""
        self.cursor.part += len(text)
        lacks_tail = is_gone or (ended is not None and self._lacks_tail(ended))
        if lacks_tail and not self.cursor.is_lost:
            self.cursor.is_lost = True
            text += b"\n" if self.cursor.part else b""
            text += rotation.GONE if is_gone else rotation.ROTATED
        return text

    def _lacks_tail(self, ended: str) -> bool:
        """A log may also be rotated when all of it was read."""
        if not self._seeking or self.was_odd or self.cursor.is_lost:
            return False
        return not ended or self._may_lack(ended.encode())

    def _may_lack(self, stamp: bytes) -> bool:
        """Whether something may lie between the place, which the node has no longer, and a time."""
        return not self._had_all or rotation.seconds(self.cursor.stamp, stamp) >= rotation.SKIPPED

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
        stamps, zone = [stamp for stamp, _ in lines], ZONE.search(lines[0][0])
        has_times = zone and text.count(zone[0] + b" ") != len(lines)  # perhaps within lines
        if has_times or self._may_jump(stamps, len(text)):
            return parts + [part for line in ANY_LINE.findall(text) for part in self._walk(line)]
        parts.append(b"" if self._is_stale else self.held)
        self.held, self._is_stale, self._is_open = b"", False, False
        self.cursor.add(stamps)
        self.cursor.size += len(text)
        self._stamp = stamps[-1]
        return parts + [line for _, line in lines]

    def _may_jump(self, stamps: list[bytes], size: int) -> bool:
        """Whether each line is looked at by itself, for a file that may be left out before it, or
        comes once more."""
        if self._followed is None:
            return False
        first, last = min(self._stamp or stamps[0], *stamps), max(stamps)
        size += self.cursor.size
        return self._followed.begins in stamps or self._followed.may_leave_out(first, last, size)

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
        return self._is_behind or self._beginning is not None or not self.is_verified

    def _begin(self, stamp: bytes) -> None:
        if not self._seeking or stamp > self.cursor.stamp:
            self.verify(stamp)
        before, self._stamp = self._stamp, stamp
        if self._beginning is not None:
            self._gap, self._beginning = self._beginning.notice(stamp), None
        elif self._followed and stamp == self._followed.begins < self.cursor.stamp:
            self._seek()  # a node that was late with two new files opens the second of them twice
        is_next = bool(before) and not self._seeking
        if self._seeking and stamp >= self.cursor.stamp:
            self._seeking, self._verify = False, None
            if stamp > self.cursor.stamp:  # rotated away, and the rest of what is held with it
                self._old_records = self._old_bytes = self.cursor.size = 0  # of this file
                self._leave_out(is_told=self._may_lack(stamp))
        self._skips = self._seeking or self._old_records > 0
        if self._skips:
            return
        if self._is_stale:
            self.held, self._is_stale = b"", False
        if not self._old_bytes:
            if is_next and self._is_left_out(before, stamp):
                self._leave_out(is_told=True)
            self.cursor.begin(stamp)

    def _is_left_out(self, before: bytes, after: bytes) -> bool:
        followed = self._followed
        if followed is None or not followed.may_leave_out(before, after, self.cursor.size):
            return False
        is_left_out, self.cursor.size = followed.check(before, after, self.cursor.size)
        return is_left_out

    def _leave_out(self, *, is_told: bool) -> None:
        """What is held, and what may lack, before the next record."""
        self._gap += self.held
        if is_told:
            self._gap += b"\n" if self.held or self.cursor.part or self._is_open else b""
            self._gap += rotation.ROTATED
        self.held, self._is_stale = b"", False

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
            self.cursor.size += len(self._stamp) + len(text)
            self.cursor.whole, self.cursor.part, self._old_bytes = self.cursor.whole + 1, 0, 0
            self.held, self._is_open = b"", not text.endswith(b"\n")
            return gap + text
        cut = max(len(text) - HELD, 0)
        text, self.held = text[:cut], text[cut:]
        self.cursor.part += len(text)
        self.cursor.size += len(text)
        return gap + text
