"""The position in a log up to which it was read. Pure.

The API has no byte offsets. It can put a timestamp before each line, and return lines since a given
second. Timestamps may repeat. So a position is the latest timestamp so far, the number of lines
from the first with that timestamp on, and the length of an unfinished one.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self

STAMP = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(?:Z|[+-]\d\d:\d\d)"
#: stdout and stderr may be written in another order than their timestamps say.
MARGIN = timedelta(seconds=1)


def parse_stamp(stamp: bytes) -> datetime:
    return datetime.fromisoformat(stamp.decode())


@dataclass
class LogCursor:
    """A position: ``lines`` complete ones since the first with the latest timestamp, ``stamp``, and
    ``part`` bytes of the next. No line since then is older than ``oldest``, even if the clock was
    set back. ``is_lost``: what followed was rotated away, and a line of ours says so."""

    stamp: bytes = b""
    oldest: bytes = b""
    lines: int = 0
    part: int = 0
    is_lost: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the result of :meth:`__str__`; the beginning if ``text`` is empty."""
        if not text:
            return cls()
        stamp, oldest, lines, part, *lost = text.split(" ")
        return cls(stamp.encode(), oldest.encode(), int(lines), int(part), is_lost=bool(lost))

    def __str__(self) -> str:
        if not self.stamp:
            return ""
        text = f"{self.stamp.decode()} {self.oldest.decode()} {self.lines} {self.part}"
        return f"{text} lost" if self.is_lost else text

    @property
    def since(self) -> str:
        """The time to ask the API from; empty for the beginning. In whole seconds, because the API
        ignores the rest."""
        if not self.stamp:
            return ""
        return f"{parse_stamp(self.oldest).astimezone(UTC) - MARGIN:%Y-%m-%dT%H:%M:%SZ}"

    def begin(self, stamp: bytes) -> None:
        """Move to the start of a line."""
        if stamp > self.stamp:
            self.stamp = stamp
            self.oldest = stamp
            self.lines = 0
            self.is_lost = False
        self.oldest = min(self.oldest, stamp)
        self.part = 0

    def advance(self, size: int, *, ends: bool) -> None:
        """Move ``size`` bytes ahead in a line, which ``ends`` there or not."""
        self.part += size
        if ends:
            self.lines += 1
            self.part = 0
