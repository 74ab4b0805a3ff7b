"""A stream in segments: how many of its lines match is counted, and kept, for each of them."""

import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from workloads.logs.reading.lines import LONGEST, end_of, next_in, start_in
from workloads.logs.search.needle import Needle
from workloads.logs.store import Stream, first

SEGMENT = 256 * 1024  # bytes; a line belongs to where it begins


@dataclass
class Tally:
    """What is counted of a stream: ``full`` for the segments that nothing is added to any more,
    ``rest`` for those behind them as they were when the stream ended at ``end``."""

    full: "array[int]" = field(default_factory=lambda: array("L"))
    rest: list[int] = field(default_factory=list)
    end: int = 0

    @property
    def counts(self) -> list[int]:
        return [*self.full, *self.rest]


class Segments:
    """The lines of a stream that match, segment by segment."""

    def __init__(self, stream: Stream, needle: Needle, *, unfinished: bool) -> None:
        self._path = stream.path
        self._needle = needle
        self.start, self.end = first(stream), end_of(stream, unfinished=unfinished)

    def __len__(self) -> int:
        return -(-self.end // SEGMENT)

    @property
    def full(self) -> int:
        """So many are whole, with all that says where their last line ends."""
        return max(self.end - LONGEST, 0) // SEGMENT

    def count(self, number: int) -> int:
        if (number + 1) * SEGMENT <= self.start:
            return 0  # it was cut
        block, base, start, stop = self._read(number)
        return self._needle.count(block, base, start, stop)

    def lines(self, number: int) -> Iterator[tuple[int, bytes]]:
        """Those that match, with where each begins."""
        block, base, start, stop = self._read(number)
        for at in self._needle.matches(block, base, start, stop):
            begin, end = start_in(block, base, at + 1), next_in(block, base, at + 1)
            yield begin, block[begin - base : end - base]

    def _read(self, number: int) -> tuple[bytes, int, int, int]:
        """A block, where it begins, and from where to where lines begin in this segment."""
        begin = number * SEGMENT
        last = begin + SEGMENT
        base = max(begin - LONGEST, 0)
        block = self._block(base, min(last + LONGEST, self.end))
        start = max(next_in(block, base, begin), self.start)
        stop = next_in(block, base, last) if last < self.end else base + len(block)
        return block, base, start, stop

    def _block(self, start: int, end: int) -> bytes:
        try:
            file = os.open(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return b""  # the workload was deleted meanwhile
        try:
            return os.pread(file, end - start, start)
        finally:
            os.close(file)
