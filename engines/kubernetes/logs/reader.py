"""Continue to read a log from a position, without losing or repeating output. Pure.

An answer of the API starts with a stretch that was already read, because it can only be asked for
whole seconds. The reader skips that stretch up to the record of its position. If that record is
missing, its file was rotated away, and everything in the answer is new. Output in between may then
be lost, unless the node had already sent all of it; a line of ours says so, see ``rotation.py``.
The answer may also belong to another start of the container; see ``starts.py``.
"""

import re
from collections.abc import Callable

from engines.kubernetes.logs import rotation
from engines.kubernetes.logs.cursor import LogCursor

LINE = re.compile(rb"^(" + rotation.STAMP + rb") ([^\n]*\n)", re.MULTILINE)
ZONE = re.compile(rb"(?:Z|[+-]\d\d:\d\d)$")
ANY_LINE = re.compile(rb"[^\n]*\n")
TIME = re.compile(rb"(" + rotation.STAMP + rb") ")
LONGEST = 40  # the most bytes of a timestamp
HELD = 1024  # bytes at the end of an unfinished line that are held back
#: The error that a kubelet appends to an answer it cannot continue, not always on a line of its
#: own.
TROUBLE = re.compile(
    rb"(rpc error: code = \w+ desc = |unable to retrieve container logs for "
    rb"|failed to (try resolving symlinks|open log file|wait logs|get container status))[^\n]*\Z"
)


class Reader:
    """Turns the answers of the API into the output of the program, from ``cursor`` on.

    A line without a timestamp is not output: it is the rest of a line that began before the
    requested time, or an error message of the node. ``was_odd`` says that there was one. The node
    may also append such a message to an unfinished line, so the last bytes of that are ``held``
    back until it is clear what they are.
    """

    def __init__(self, cursor: LogCursor) -> None:
        self.cursor, self.held = cursor, b""
        self._stamp = b""  # the timestamp of the current record
        self._gap = b""  # output that goes before the next record
        self._is_open = False  # did the last line that was returned lack its end?
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
        """Prepare for a new answer, which starts with a stretch that was already read.

        ``had_all``: the previous answer came to the end of its file and of the container, so
        nothing is missing before a file that the node has begun since. ``beginning`` says whether
        output is missing before the first lines of the container, and ``followed`` whether it is
        missing before later ones. If the answer does not contain the position, ``verify`` is called
        with the timestamp of its first new line before any of it is used; it raises an exception if
        the answer belongs to another log.
        """
        self._had_all, self._followed, self._verify = had_all, followed, verify
        self._beginning = None if self.cursor.stamp else beginning
        self._rest = self._stamp = b""
        self._in_line = self._is_junk = self.was_odd = False
        self._seek()

    def _seek(self) -> None:
        """Expect that what comes next starts at or before the position."""
        self._seeking = bool(self.cursor.stamp)  # is the record of the position still to come?
        self._old_records, self._old_bytes = self.cursor.whole, self.cursor.part
        self._skips = False
        self._is_stale = True  # will the bytes held back be sent again?

    @property
    def is_verified(self) -> bool:
        """Whether the answer is known to belong to this log."""
        return self._verify is None

    def verify(self, first: bytes = b"") -> None:
        """Call the check of :meth:`connect`, once for each answer."""
        if self._verify is not None:
            self._verify(first)  # may take long
            self._verify = None

    @property
    def has_all(self) -> bool:
        """The value of ``had_all`` for the next answer, if this one came to an end: it contained
        the position, or nothing of a newer file."""
        return self._had_all or not self._seeking

    @property
    def state(self) -> tuple[str, bytes]:
        return str(self.cursor), self.held

    def feed(self, data: bytes) -> bytes:
        """Return the new output in ``data``, and move ``cursor`` to its end."""
        data, self._rest = self._rest + data, b""  # cleared even if `verify` rejects the answer
        end = data.rfind(b"\n") + 1
        parts = self._lines(data[:end])
        if end < len(data):
            parts += self._walk(data[end:], keep=LONGEST)
        return b"".join(parts)

    def pause(self) -> bytes:
        """Return the rest of the output at the end of an answer: bytes that could have become a
        timestamp did not."""
        rest, self._rest = self._rest, b""
        return b"".join(self._walk(rest)) if rest else b""

    def flush(self, ended: str | None = None, *, is_gone: bool = False) -> bytes:
        """Return the bytes held back, when nothing more will come, and a line if output may be
        missing.

        ``ended`` is when the container ended, or empty. It is given if the last answer was
        complete: a position that was not in it is then gone. ``is_gone``: the cluster no longer has
        this log.
        """
        text, self.held = TROUBLE.sub(b"", self.held), b""
        self.cursor.part += len(text)
        lacks_tail = is_gone or (ended is not None and self._lacks_tail(ended))
        if lacks_tail and not self.cursor.is_lost:
            self.cursor.is_lost = True
            text += b"\n" if self.cursor.part else b""
            text += rotation.GONE if is_gone else rotation.ROTATED
        return text

    def _lacks_tail(self, ended: str) -> bool:
        """Whether the end of the log may be missing. A log may also be rotated after all of it was
        read."""
        if not self._seeking or self.was_odd or self.cursor.is_lost:
            return False
        return not ended or self._may_lack(ended.encode())

    def _may_lack(self, stamp: bytes) -> bool:
        """Whether there may have been output between the position, which the node no longer has,
        and a timestamp."""
        return not self._had_all or rotation.seconds(self.cursor.stamp, stamp) >= rotation.SKIPPED

    def _lines(self, text: bytes) -> list[bytes]:
        """Return the new output in complete lines, of which the first may have begun in earlier
        data. Goes through them one by one only if it has to."""
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
        has_times = zone and text.count(zone[0] + b" ") != len(lines)  # perhaps within a line
        if has_times or self._may_jump(stamps, len(text)):
            return parts + [part for line in ANY_LINE.findall(text) for part in self._walk(line)]
        parts.append(b"" if self._is_stale else self.held)
        self.held, self._is_stale, self._is_open = b"", False, False
        self.cursor.add(stamps)
        self.cursor.size += len(text)
        self._stamp = stamps[-1]
        return parts + [line for _, line in lines]

    def _may_jump(self, stamps: list[bytes], size: int) -> bool:
        """Whether to go through lines one by one, because the node may have skipped a file between
        them, or send one again."""
        if self._followed is None:
            return False
        first, last = min(self._stamp or stamps[0], *stamps), max(stamps)
        size += self.cursor.size
        return self._followed.begins in stamps or self._followed.may_leave_out(first, last, size)

    def _walk(self, text: bytes, *, keep: int = 0) -> list[bytes]:
        """Return the new output in one line, or in the next part of it. The last ``keep`` bytes are
        left for the next call, because a timestamp may begin in them."""
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
                if time.start() < limit and time[1] >= self._stamp:  # earlier: by the program
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
        """Whether what comes next was already read."""
        return self._seeking or bool(self._old_records or self._old_bytes)

    @property
    def _is_watchful(self) -> bool:
        """Whether to go through lines one by one, because output may be missing before each."""
        return self._is_behind or self._beginning is not None or not self.is_verified

    def _begin(self, stamp: bytes) -> None:
        if not self._seeking or stamp > self.cursor.stamp:
            self.verify(stamp)
        before, self._stamp = self._stamp, stamp
        if self._beginning is not None:
            self._gap, self._beginning = self._beginning.notice(stamp), None
        elif self._followed and stamp == self._followed.begins < self.cursor.stamp:
            self._seek()  # a node that was late by two files opens the second of them twice
        is_next = bool(before) and not self._seeking
        if self._seeking and stamp >= self.cursor.stamp:
            self._seeking, self._verify = False, None
            if stamp > self.cursor.stamp:  # rotated away, with the rest of its line
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
        """Put the bytes held back before the next record, and with ``is_told`` a line that output
        may be missing."""
        self._gap += self.held
        if is_told:
            self._gap += b"\n" if self.held or self.cursor.part or self._is_open else b""
            self._gap += rotation.ROTATED
        self.held, self._is_stale = b"", False

    def _take(self, text: bytes, *, ends: bool) -> bytes:
        """Return what is new in the next part of the current record, which ``ends`` with it
        or not."""
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
