"""A stream in segments, with a cached count of matching lines for each."""

import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from workloads.logs.reading.lines import (
    LONGEST,
    last_line_end,
    line_start_in_block,
    next_line_start_in_block,
)
from workloads.logs.search.needle import Needle
from workloads.logs.store import Stream, first_offset

SEGMENT = 256 * 1024  # bytes; a line belongs to the segment where it starts


@dataclass
class Tally:
    """Counts of a stream: ``full`` for complete segments, ``rest`` for those after them, as of the
    time when the stream ended at ``end``."""

    full: "array[int]" = field(default_factory=lambda: array("L"))
    rest: list[int] = field(default_factory=list)
    end: int = 0

    @property
    def counts(self) -> list[int]:
        return [*self.full, *self.rest]


class Segments:
    """The matching lines of a stream, segment by segment."""

    def __init__(self, stream: Stream, needle: Needle, *, unfinished: bool) -> None:
        self._path = stream.path
        self._needle = needle
        self.start = first_offset(stream)
        self.end = last_line_end(stream, unfinished=unfinished)

    def __len__(self) -> int:
        return -(-self.end // SEGMENT)

    @property
    def full(self) -> int:
        """The number of complete segments, including where their last line ends."""
        return max(self.end - LONGEST, 0) // SEGMENT

    def count(self, number: int) -> int:
        if (number + 1) * SEGMENT <= self.start:
            return 0  # it has been cut
        block, base, start, stop = self._read_segment(number)
        return self._needle.count(block, base, start, stop)

    def lines(self, number: int) -> Iterator[tuple[int, bytes]]:
        """Matching lines with their starts."""
        block, base, start, stop = self._read_segment(number)
        for at in self._needle.matches(block, base, start, stop):
            begin = line_start_in_block(block, base, at + 1)
            end = next_line_start_in_block(block, base, at + 1)
            yield begin, block[begin - base : end - base]

    def _read_segment(self, number: int) -> tuple[bytes, int, int, int]:
        """A block, its start, and the range in which lines of this segment start."""
        begin = number * SEGMENT
        last = begin + SEGMENT
        base = max(begin - LONGEST, 0)
        block = self._read_block(base, min(last + LONGEST, self.end))
        start = max(next_line_start_in_block(block, base, begin), self.start)
        stop = next_line_start_in_block(block, base, last) if last < self.end else base + len(block)
        return block, base, start, stop

    def _read_block(self, start: int, end: int) -> bytes:
        try:
            file = os.open(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return b""  # the workload was deleted meanwhile
        try:
            return os.pread(file, end - start, start)
        finally:
            os.close(file)
