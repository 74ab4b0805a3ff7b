"""Read lines of a stream forward and backward, from any offset, block by block.

A log without line breaks must not fill the memory, so long lines are returned in parts. They are
cut at each multiple of ``GRID`` without a line break in the ``GRID`` bytes before it: so every
reader, from any position and in either direction, gets the same parts.

A text such as a download has each line once, however long it is, and only the last state of a
progress bar: these are whole lines.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from workloads.logs.store import Index, Stream, first_offset, read_output, size

BLOCK = 64 * 1024
GRID = 8 * 1024
LONGEST = 2 * GRID
LONGEST_WHOLE = 32 * 1024 * 1024  # bytes of a whole line; a longer one is cut


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


def read_whole(stream: Stream, start: int) -> Iterator[Line]:
    """Yield whole lines from ``start``, with the time of their end. The last one may lack its line
    break.

    The ``data`` of a line is its last state. Its first byte is ``len(data)`` before its end.
    """
    begin = start
    end = start
    state = bytearray()
    with Index(stream) as index:
        for offset, part in _parts_forward(stream, start, unfinished=True):
            end = offset + len(part)
            state += part
            if b"\r" in part:
                state = bytearray(last_state(bytes(state)))
            if part.endswith(b"\n") or len(state) >= LONGEST_WHOLE:
                yield Line(
                    stream.rank, index.time_at(end - 1), begin, end, last_state(bytes(state))
                )
                begin = end
                state.clear()
        if state:
            yield Line(stream.rank, index.time_at(end - 1), begin, end, last_state(bytes(state)))


def read_whole_backward(stream: Stream, end: int) -> Iterator[Line]:
    """Yield the whole lines that end at or before ``end``, last one first, without their data."""
    later: Line | None = None
    with Index(stream) as index:
        for part in read_backward(stream, end):
            if later and not part.data.endswith(b"\n"):
                later = replace(later, offset=part.offset)
                continue
            if later:
                yield later
            later = replace(part, at=index.time_at(part.end - 1), data=b"")
        if later:
            yield later


def whole_line_start(stream: Stream, offset: int) -> int:
    """Return the start of the whole line that contains the byte at ``offset``."""
    top = first_offset(stream)
    end = offset
    while end > top:
        base = max(end - BLOCK, top)
        line_break = read_output(stream, base, end - base).rfind(b"\n")
        if line_break >= 0:
            return base + line_break + 1
        end = base
    return min(top, offset)


def last_state(line: bytes) -> bytes:
    """Return the last state of a line on a terminal: what follows the last carriage return, unless
    nothing does."""
    return line[line.rstrip(b"\r\n").rfind(b"\r") + 1 :]


def unfinished_line(stream: Stream) -> Line | None:
    """Return the last state of the last line if it has no line break yet, such as a progress bar.

    Of a line without states it is what follows the parts that are complete.
    """
    end = size(stream)
    base = max(end - LONGEST, first_offset(stream))
    block = read_output(stream, base, end - base)
    line = block[block.rfind(b"\n") + 1 :]
    if not line:
        return None
    state = last_state(line)
    if state == line:
        state = line[-(end - line_start(stream, end - 1)) :]
    with Index(stream) as index:
        return Line(stream.rank, index.time_at(end - 1), end - len(state), end, state)


def is_overwritten(stream: Stream, part: Line, *, unfinished: bool) -> bool:
    """Whether a part of a long line is an earlier state of it, which a progress bar overwrites.

    Unless ``unfinished``, the last line may go on, and its last state is left to
    :func:`unfinished_line`.
    """
    if part.data.endswith(b"\n"):
        return False
    following = read_output(stream, part.end, LONGEST)
    rest, line_break, _ = following.partition(b"\n")
    body = rest.rstrip(b"\r")
    if b"\r" in body or (body and part.data.endswith(b"\r")):
        return True
    goes_on = not unfinished and not line_break and len(following) < LONGEST
    return goes_on and b"\r" in part.data


def whole_characters(stream: Stream, part: Line) -> bytes:
    """Return the data of a part without half a character at its ends: one that a cut divides
    belongs to the part where it begins."""
    data = part.data
    if part.offset % GRID == 0 and part.offset:
        data = data[_count_continuing(data) :]
    if part.end % GRID == 0 and not data.endswith(b"\n"):
        following = read_output(stream, part.end, 3)
        data += following[: _count_continuing(following)]
    return data


def _count_continuing(data: bytes) -> int:
    """Return how many bytes at the beginning, at most three, belong to a character of UTF-8 that
    begins before them."""
    count = 0
    for byte in data[:3]:
        if byte & 0b1100_0000 != 0b1000_0000:
            break
        count += 1
    return count


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
