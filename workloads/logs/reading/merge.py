"""The lines of several ranks in the order in which they were collected, a window at a time.

A cursor holds, for each rank, up to where its lines were told. It says all there is to know, so a
window deep in a large log costs what the first one does.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import merge

from workloads.logs.reading.lines import Line, backward, end_of, forward
from workloads.logs.store import Stream, size

WINDOW = 1000  # lines
WINDOW_BYTES = 8 * 1024 * 1024
FARTHEST = 2**62  # bytes; no file goes on behind it
Cursor = dict[int, int]
Reader = Callable[[Stream, int], Iterator[Line]]  # lines of a stream from an offset, or up to one
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Window:
    """Lines, oldest first. ``start`` and ``end`` are where the windows beside it go on.

    ``more`` says that there is more in the direction of reading, ``later`` in the other one, where
    both were read, and ``aim`` is the line at which they meet.
    """

    lines: list[Line]
    start: Cursor
    end: Cursor
    more: bool
    later: bool = False
    aim: Line | None = None


def tail(
    streams: Sequence[Stream],
    *,
    limit: int = WINDOW,
    unfinished: bool = False,
    lines: Reader = backward,
) -> Window:
    """The last lines. One that has no line break yet only if ``unfinished``."""
    return before(streams, ends(streams, unfinished=unfinished), limit=limit, lines=lines)


def ends(streams: Iterable[Stream], *, unfinished: bool) -> Cursor:
    return {stream.rank: end_of(stream, unfinished=unfinished) for stream in streams}


def before(
    streams: Sequence[Stream], cursor: Cursor, *, limit: int = WINDOW, lines: Reader = backward
) -> Window:
    """The last lines before the cursor. One beyond the end is at the end: reading back from
    nowhere, a block at a time, would take for ever."""
    end = {stream.rank: min(cursor.get(stream.rank, 0), size(stream)) for stream in streams}
    sources = [lines(stream, end[stream.rank]) for stream in streams]
    taken, more = _take(merge(*sources, key=_order, reverse=True), limit)
    start = end | {line.rank: line.offset for line in taken}
    return Window(taken[::-1], start, end, more)


def after(
    streams: Sequence[Stream],
    cursor: Cursor,
    *,
    limit: int = WINDOW,
    unfinished: bool = False,
    lines: Reader | None = None,
) -> Window:
    """The first lines after the cursor."""
    start = {stream.rank: cursor.get(stream.rank, 0) for stream in streams}
    reader = lines or partial(forward, unfinished=unfinished)
    sources = [reader(stream, start[stream.rank]) for stream in streams]
    taken, more = _take(merge(*sources, key=_order), limit)
    end = start | {line.rank: line.end for line in taken}
    return Window(taken, start, end, more)


def around(streams: Sequence[Stream], cursor: Cursor, *, earlier: Reader, later: Reader) -> Window:
    """The lines on both sides of the cursor."""
    previous = before(streams, cursor, limit=WINDOW // 4, lines=earlier)
    following = after(streams, cursor, limit=WINDOW // 2, lines=later)
    lines = previous.lines + following.lines
    aim = next(iter(following.lines or previous.lines[-1:]), None)
    return Window(lines, previous.start, following.end, previous.more, following.more, aim)


def everything(streams: Iterable[Stream]) -> Iterator[Line]:
    """Every line, oldest first, for a download."""
    return merge(*(forward(stream, 0, unfinished=True) for stream in streams), key=_order)


def _order(line: Line) -> tuple[float, int]:
    return line.at.timestamp(), line.rank


def _take(lines: Iterable[Line], limit: int) -> tuple[list[Line], bool]:
    taken, room = list[Line](), WINDOW_BYTES
    for line in lines:
        taken.append(line)
        room -= len(line.data)
        if len(taken) >= limit or room <= 0:
            return taken, True
    return taken, False


def encode(cursor: Cursor) -> str:
    """A cursor for an address: ``0.1k-1.9z``."""
    return "-".join(f"{rank}.{_base36(offset)}" for rank, offset in sorted(cursor.items()))


def decode(text: str) -> Cursor | None:
    """``None`` for what is none."""
    try:
        pairs = [part.split(".") for part in text.split("-")]
        cursor = {int(rank): int(offset, 36) for rank, offset in pairs}
    except ValueError:
        return None
    return cursor if all(0 <= offset <= FARTHEST for offset in cursor.values()) else None


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = ALPHABET[digit] + digits
    return digits or "0"
