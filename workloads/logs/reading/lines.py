"""Read lines of a stream forward and backward, from any offset, block by block.

A log without line breaks must not fill the memory, so long lines are returned in parts. They are
cut at each multiple of ``GRID`` without a line break in the ``GRID`` bytes before it: so every
reader, from any position and in either direction, gets the same parts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from workloads.logs.store import Index, Stream, first_offset, read_output, size

BLOCK = 64 * 1024
GRID = 8 * 1024
LONGEST = 2 * GRID


@dataclass(frozen=True)
class Line:
    """A line from ``offset`` to ``end``, including its line break."""

    rank: int
    at: datetime
    offset: int
    end: int
    data: bytes

    @property
    def order(self) -> tuple[datetime, int]:
        """Its sort key among the lines of all ranks."""
        return self.at, self.rank


def read_forward(stream: Stream, start: int, *, unfinished: bool) -> Iterator[Line]:
    """Yield the lines from ``start``. A last line without a line break counts only if
    ``unfinished``."""
    start = max(start, first_offset(stream))
    with Index(stream) as index:
        for offset, data in _parts_forward(stream, start, unfinished=unfinished):
            yield Line(stream.rank, index.time_at(offset), offset, offset + len(data), data)


def read_backward(stream: Stream, end: int) -> Iterator[Line]:
    """Yield the lines that end at or before ``end``, last one first."""
    with Index(stream) as index:
        for offset, data in _parts_backward(stream, end):
            yield Line(stream.rank, index.time_at(offset), offset, offset + len(data), data)


def last_line_end(stream: Stream, *, unfinished: bool) -> int:
    """Return the end of the last line. One without a line break counts only if ``unfinished``."""
    end = size(stream)
    if unfinished or not end or read_output(stream, end - 1, 1) == b"\n":
        return end
    return line_start(stream, end - 1)


def line_start(stream: Stream, offset: int) -> int:
    """Return the start of the line that contains the byte at ``offset``."""
    base = max(offset - LONGEST, 0)
    return line_start_in_block(read_output(stream, base, offset - base), base, offset + 1)


def next_line_start(stream: Stream, offset: int) -> int:
    """Return the start of the first line at ``offset`` or later."""
    base = max(offset - LONGEST, 0)
    return next_line_start_in_block(read_output(stream, base, 2 * LONGEST), base, offset)


def line_start_in_block(block: bytes, base: int, end: int) -> int:
    """Return the start of the line that ends at ``end``, in a block that begins at ``base``."""
    cut = (end - 1) // GRID * GRID
    floor = max(cut - GRID, base)
    if (line_break := block.rfind(b"\n", floor - base, end - 1 - base)) >= 0:
        return base + line_break + 1
    return cut if cut >= GRID else 0


def next_line_start_in_block(block: bytes, base: int, offset: int) -> int:
    """Where the first line begins that does so at ``offset`` or later; else the block's end."""
    start = line_start_in_block(block, base, offset + 1) if offset else 0
    if start == offset:
        return offset
    line_break = block.find(b"\n", start - base)
    end = base + line_break + 1 if line_break >= 0 else base + len(block)
    return min(end, _first_cut(start))


def split_line(line: bytes, offset: int) -> Iterator[bytes]:
    """Yield the parts of a line at ``offset``: several if it is long."""
    cuts = range(_first_cut(offset) - offset, len(line), GRID)
    for start, end in pairwise([0, *cuts, len(line)]):
        yield line[start:end]


def _first_cut(start: int) -> int:
    return -(-start // GRID) * GRID + GRID


def _parts_forward(stream: Stream, start: int, *, unfinished: bool) -> Iterator[tuple[int, bytes]]:
    offset = start
    rest = b""
    while block := read_output(stream, offset + len(rest), BLOCK):
        *whole, rest = (rest + block).split(b"\n")
        for line in whole:
            for part in split_line(line + b"\n", offset):
                yield offset, part
                offset += len(part)
        *longer, rest = split_line(rest, offset)
        for part in longer:
            yield offset, part
            offset += len(part)
    if rest and unfinished:
        yield offset, rest


def _parts_backward(stream: Stream, end: int) -> Iterator[tuple[int, bytes]]:
    base = end
    block = b""
    top = first_offset(stream)
    while end > top:
        if end - LONGEST < base and base:
            base = max(end - BLOCK, 0)
            block = read_output(stream, base, end - base)
            if len(block) < end - base:
                return  # deleted meanwhile
        start = line_start_in_block(block, base, end)
        yield start, block[start - base : end - base]
        end = start
