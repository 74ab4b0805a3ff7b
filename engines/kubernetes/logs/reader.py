"""Continue to read a log from a position, without losing or repeating output.

An answer of the API starts with a stretch that was already read, because it can only be asked for
whole seconds. The reader skips that stretch up to the line of its position. If that line is
missing, its file was rotated away, and everything in the answer is new: a line of ours says that
output may be missing there. The answer may also belong to another start of the container, so the
reader has it checked before it uses anything of it.
"""

import re
from collections.abc import Callable

from engines.kubernetes.logs.cursor import STAMP, LogCursor

STAMPED = re.compile(rb"(" + STAMP + rb") ")
LONGEST_STAMP = 40  # bytes of it and of its space, at most
LINE = re.compile(rb"[^\n]*\n|[^\n]+")
HELD_BACK_BYTES = 1024  # bytes at the end of an unfinished line that wait for what follows
ROTATED = (
    b"[Trainyard] Output may be missing here: the node may have rotated the log before it was "
    b"read.\n"
)
GONE = (
    b"[Trainyard] Output may be missing here: the cluster no longer has this log, which was not "
    b"read to its end.\n"
)
#: The error that a kubelet appends to an answer it cannot continue, not always on a line of its own
#: (``ReadLogs`` in k8s.io/cri-client).
TROUBLE = re.compile(
    rb"(?:(?P<removed>rpc error: code = NotFound desc = )|rpc error: code = \w+ desc = "
    rb"|unable to retrieve container logs for |failed to (?:try resolving symlinks|open log file"
    rb"|read log file|create fsnotify watcher|watch directory|get container status))[^\n]*\Z"
)


def trust_answer(_first: bytes) -> bool:
    """Accept any answer."""
    return False


class Reader:
    """Turns the answers of the API into the output of the program, from ``cursor`` on.

    A line without a timestamp is no output: it is the rest of a line that began before the
    requested time, or an error message of the node. The node may also append such a message to an
    unfinished line, so the end of that is left unread until it is clear what it is.
    """

    def __init__(self, cursor: LogCursor) -> None:
        self.cursor = cursor
        self._output: list[bytes] = []
        self._is_line_open = cursor.part > 0  # does the output so far lack its newline?
        self.connect()

    def connect(self, check: Callable[[bytes], bool] = trust_answer) -> None:
        """Prepare for a new answer, which starts at or before the position.

        If the answer does not contain the position, ``check`` is called once before anything of it
        is used, with the timestamp of its first new line. It raises an exception if the answer is
        another log's, and returns whether the beginning may be missing in a log that was not read
        before.
        """
        self._check: Callable[[bytes], bool] | None = check
        self._unread = b""
        self._is_in_line = False
        self.has_message = False  # did the answer end with a message of the node?
        self.is_removed = False  # does it say that the container was removed?
        self.is_seeking = bool(self.cursor.stamp)  # is the line of the position still to come?
        self._old_lines = self.cursor.lines
        self._old_bytes = self.cursor.part

    @property
    def is_checked(self) -> bool:
        """Whether the answer is known to belong to this log."""
        return self._check is None

    def feed(self, data: bytes) -> bytes:
        """Return the new output in ``data``, and move ``cursor`` to its end."""
        text = self._unread + data
        self._unread = b""  # also if the check rejects the answer
        end = _readable_bytes(text)
        for line in LINE.findall(text[:end]):
            self._read(line)
        self._unread = text[end:]
        return self._take_output()

    def end(self) -> bytes:
        """Return the rest of an answer that came to its end, without a message of the node."""
        trouble = TROUBLE.search(self._unread)
        text = self._unread[: trouble.start()] if trouble else self._unread
        self._unread = b""
        if text:
            self._read(text)
        if trouble:
            self.has_message = True
            self.is_removed = trouble["removed"] is not None
        return self._take_output()

    def finish(self) -> bytes:
        """Return the end of the log, of which the answer had the last. If it did not contain the
        position, the end of the log may be missing, and a line says so."""
        rest = self.end()
        if self._check is not None:
            self._check(b"")
        if self.is_seeking:
            self._add_loss_notice(ROTATED)
        return rest + self._take_output()

    def give_up(self, *, has_all: bool) -> bytes:
        """Return the end of a log that the cluster no longer has. ``has_all``: it was read to its
        end."""
        rest = self.end() if self.is_checked else b""
        if not has_all:
            self._add_loss_notice(GONE)
        return rest + self._take_output()

    def _add_loss_notice(self, notice: bytes) -> None:
        if not self.cursor.is_lost:  # a process before this one may have said it
            self.cursor.is_lost = True
            self._add_notice(notice)

    def _read(self, text: bytes) -> None:
        """Read one line, or the next part of it."""
        ends = text.endswith(b"\n")
        if not self._is_in_line:
            time = STAMPED.match(text)
            self.has_message = time is None
            if time:
                self._begin(time[1])
                text = text[time.end() :]
        self._is_in_line = not ends
        if not self.has_message:
            self._take(text, ends=ends)

    def _begin(self, stamp: bytes) -> None:
        """Begin a line with a timestamp."""
        if self.is_seeking and stamp < self.cursor.stamp:
            return
        if self.is_seeking and stamp == self.cursor.stamp:
            self._check = None  # no other log contains the position
        elif self.is_seeking:
            self._old_lines = 0
            self._old_bytes = 0
        self.is_seeking = False
        if self._old_lines:
            return
        if self._check is not None:
            lacks_head = self._check(stamp)  # may take long
            self._check = None
            if self.cursor.stamp or lacks_head:
                self._add_notice(ROTATED)
        if not self._old_bytes:
            self.cursor.begin(stamp)

    def _add_notice(self, notice: bytes) -> None:
        """Put a line of ours into the output."""
        self._output.append(b"\n" + notice if self._is_line_open else notice)
        self._is_line_open = False

    def _take(self, text: bytes, *, ends: bool) -> None:
        """Put what is new in the next part of the present line, which ``ends`` with it or not, into
        the output."""
        if self.is_seeking or self._old_lines:
            if ends and not self.is_seeking:
                self._old_lines -= 1
            return
        new = text[self._old_bytes :]
        self._old_bytes = 0 if ends else max(self._old_bytes - len(text), 0)
        self.cursor.advance(len(new), ends=ends)
        if new:
            self._output.append(new)
            self._is_line_open = not new.endswith(b"\n")

    def _take_output(self) -> bytes:
        output = b"".join(self._output)
        self._output.clear()
        return output


def _readable_bytes(text: bytes) -> int:
    """Return how many bytes of ``text`` to read now: all lines, and of an unfinished one all but
    its end, so that no timestamp is cut in two."""
    lines = text.rfind(b"\n") + 1
    end = len(text) - HELD_BACK_BYTES
    return end if end >= lines + LONGEST_STAMP else lines
