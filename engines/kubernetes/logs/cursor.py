"""Where a log was left off. Pure.

The API knows no byte offsets. It puts the time before each record, and gives the records since a
second that one names. A record is a line, or a part of one: nodes write down long ones in parts,
and kubelets before 1.27 put a time before each of these. So a place in a log is the record with the
latest time seen so far, how many records came from that one on, and how much of an unfinished one.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from engines.kubernetes.logs import rotation

#: The two streams of a container may be written down in another order than their times say.
MARGIN = timedelta(seconds=1)


@dataclass
class LogCursor:
    """``whole`` records came from the first of ``stamp`` on, the latest time seen so far, and
    ``part`` bytes of the next. None is older than ``oldest``: clocks may be set back. About
    ``size`` bytes up to here may stand in one file. ``is_lost``: what followed was rotated away for
    good, and that is said.
    """

    stamp: bytes = b""
    oldest: bytes = b""
    whole: int = 0
    part: int = 0
    size: int = 0
    is_lost: bool = False

    @classmethod
    def of(cls, text: str) -> Self:
        """The place that :meth:`__str__` wrote down; the beginning, if there is no text."""
        if not text:
            return cls()
        stamp, oldest, whole, part, *more = text.split(" ")
        lost = more[-1:] == ["lost"]
        size = int(more[0]) if len(more) > lost else rotation.FILE_BYTES  # of an older version
        return cls(stamp.encode(), oldest.encode(), int(whole), int(part), size, lost)

    def __str__(self) -> str:
        if not self.stamp:
            return ""
        place = f"{self.stamp.decode()} {self.oldest.decode()} {self.whole} {self.part} {self.size}"
        return f"{place} lost" if self.is_lost else place

    @property
    def since(self) -> str:
        """From when on to ask; or empty."""
        return rotation.since(self.oldest, MARGIN) if self.stamp else ""

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
