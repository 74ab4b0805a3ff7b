"""The position in a log up to which it was read. Pure.

The API has no byte offsets. It can put a timestamp before each record, and return records since a
given second. A record is a line, or a part of one: nodes split long lines, and kubelets before 1.27
put a timestamp before each part. So a position is the record with the latest timestamp so far, the
number of records from that one on, and the length of an unfinished one.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from engines.kubernetes.logs import rotation

#: stdout and stderr may be written in another order than their timestamps say.
MARGIN = timedelta(seconds=1)


@dataclass
class LogCursor:
    """A position: ``whole`` records since the first with the latest timestamp, ``stamp``, and
    ``part`` bytes of the next. No record is older than ``oldest``, even if the clock was set back.
    At most about ``size`` bytes before it are in the same file. ``is_lost``: what followed was
    rotated away, and a line says so."""

    stamp: bytes = b""
    oldest: bytes = b""
    whole: int = 0
    part: int = 0
    size: int = 0
    is_lost: bool = False

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse the result of :meth:`__str__`; the beginning if ``text`` is empty."""
        if not text:
            return cls()
        stamp, oldest, whole, part, *more = text.split(" ")
        lost = more[-1:] == ["lost"]
        size = int(more[0]) if len(more) > lost else rotation.FILE_BYTES  # of an earlier version
        return cls(stamp.encode(), oldest.encode(), int(whole), int(part), size, lost)

    def __str__(self) -> str:
        if not self.stamp:
            return ""
        place = f"{self.stamp.decode()} {self.oldest.decode()} {self.whole} {self.part} {self.size}"
        return f"{place} lost" if self.is_lost else place

    @property
    def since(self) -> str:
        """The time to ask the API from; empty for the beginning."""
        return rotation.since(self.oldest, MARGIN) if self.stamp else ""

    def begin(self, stamp: bytes) -> None:
        """Move to the start of a record."""
        if stamp > self.stamp:
            self.stamp, self.oldest, self.whole, self.is_lost = stamp, stamp, 0, False
        self.oldest = min(self.oldest, stamp)
        self.part = 0

    def add(self, stamps: list[bytes]) -> None:
        """Move past complete records with these timestamps."""
        latest, first = max(stamps), 0
        if latest > self.stamp:
            first = stamps.index(latest)
            self.stamp, self.oldest, self.whole, self.is_lost = latest, latest, 0, False
        self.oldest = min(self.oldest, *stamps[first:])
        self.whole += len(stamps) - first
        self.part = 0
