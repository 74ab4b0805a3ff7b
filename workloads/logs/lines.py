"""Lines of one stream, forward and backward, from any offset, a block at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from workloads.logs.store import Index, Stream, read, size

BLOCK = 64 * 1024
# A longer line is shown as several: a log without line breaks must not fill the memory.
LONGEST = 16 * 1024


@dataclass(frozen=True)
class Line:
    """``offset`` to ``end`` are its bytes, the line break included."""

    rank: int
    at: datetime
    offset: int
    end: int
    data: bytes


def forward(stream: Stream, start: int, *, unfinished: bool) -> Iterator[Line]:
    """Lines from ``start``. The last one, while it has no line break, only if ``unfinished``."""
    with Index(stream) as index:
        for offset, data in _forward(stream, start, unfinished=unfinished):
            yield Line(stream.rank, index.at(offset), offset, offset + len(data), data)


def backward(stream: Stream, end: int) -> Iterator[Line]:
    """Lines that end at or before ``end``, the last one first."""
    with Index(stream) as index:
        for offset, data in _backward(stream, end):
            yield Line(stream.rank, index.at(offset), offset, offset + len(data), data)


def end_of(stream: Stream, *, unfinished: bool) -> int:
    """Where the last line ends. One without a line break counts only if ``unfinished``."""
    end = size(stream)
    if unfinished:
        return end
    last = read(stream, max(end - LONGEST, 0), LONGEST)
    cut = last.rfind(b"\n")
    return end - len(last) + cut + 1 if cut >= 0 or end <= LONGEST else end


def _forward(stream: Stream, start: int, *, unfinished: bool) -> Iterator[tuple[int, bytes]]:
    offset, rest = start, b""
    while block := read(stream, offset + len(rest), BLOCK):
        *whole, rest = (rest + block).split(b"\n")
        for line in whole:
            for part in _parts(line + b"\n"):
                yield offset, part
                offset += len(part)
        while len(rest) > LONGEST:
            yield offset, rest[:LONGEST]
            offset, rest = offset + LONGEST, rest[LONGEST:]
    if rest and unfinished:
        yield offset, rest


def _backward(stream: Stream, end: int) -> Iterator[tuple[int, bytes]]:
    position, block, tail = end, b"", 0  # what is left to tell is block[:tail], from position
    while True:
        cut = block.rfind(b"\n", 0, max(tail - 1, 0))
        if cut < 0 and position > 0 and tail <= LONGEST:
            at = max(position - BLOCK, 0)
            block = read(stream, at, position - at) + block[:tail]
            position, tail = at, len(block)
            continue
        start = max(cut + 1, tail - LONGEST)  # a long line is told in parts
        line = block[start:tail]
        if line:
            yield position + start, line
        tail = start
        if position + tail <= 0:
            return


def _parts(line: bytes) -> Iterator[bytes]:
    for at in range(0, len(line), LONGEST):
        yield line[at : at + LONGEST]
