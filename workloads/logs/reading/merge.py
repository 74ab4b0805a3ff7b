"""Merge the lines of several ranks in the order in which they were collected, window by window.

A cursor contains, for each rank, the position up to which its lines were returned. Nothing else is
needed, so a window deep in a large log costs no more than the first.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import merge

from workloads.logs.reading.lines import (
    Line,
    last_line_end,
    read_backward,
    read_forward,
    read_whole,
)
from workloads.logs.store import Stream, first_offset, size

WINDOW = 1000  # lines
WINDOW_BYTES = 8 * 1024 * 1024
FARTHEST = 2**62  # bytes; larger than any file
Cursor = dict[int, int]
Reader = Callable[[Stream, int], Iterator[Line]]  # lines of a stream from an offset, or up to one
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Window:
    """A window of lines, oldest first. ``start`` and ``end`` are the cursors of the neighboring
    windows.

    ``more``: there are more lines in the direction of reading; ``later``: in the other direction,
    if both were read. ``aim`` is the line where they meet.
    """

    lines: list[Line]
    start: Cursor
    end: Cursor
    more: bool
    later: bool = False
    aim: Line | None = None


def last_window(
    streams: Sequence[Stream],
    *,
    limit: int = WINDOW,
    unfinished: bool = False,
    lines: Reader = read_backward,
) -> Window:
    """The last lines. One without a line break counts only if ``unfinished``."""
    return window_before(
        streams, end_cursor(streams, unfinished=unfinished), limit=limit, lines=lines
    )


def end_cursor(streams: Iterable[Stream], *, unfinished: bool) -> Cursor:
    return {stream.rank: last_line_end(stream, unfinished=unfinished) for stream in streams}


def window_before(
    streams: Sequence[Stream], cursor: Cursor, *, limit: int = WINDOW, lines: Reader = read_backward
) -> Window:
    """The last lines before the cursor. A cursor beyond the end counts as the end, because reading
    back from there, block by block, would take for ever."""
    end = {stream.rank: min(cursor.get(stream.rank, 0), size(stream)) for stream in streams}
    sources = [lines(stream, end[stream.rank]) for stream in streams]
    taken, more = _take_window(merge(*sources, key=_order, reverse=True), limit)
    start = end | {line.rank: line.offset for line in taken}
    return Window(taken[::-1], start, end, more)


def window_after(
    streams: Sequence[Stream],
    cursor: Cursor,
    *,
    limit: int = WINDOW,
    unfinished: bool = False,
    lines: Reader | None = None,
) -> Window:
    """Return the first lines after the cursor."""
    start = {stream.rank: cursor.get(stream.rank, 0) for stream in streams}
    reader = lines or partial(read_forward, unfinished=unfinished)
    sources = [reader(stream, start[stream.rank]) for stream in streams]
    taken, more = _take_window(merge(*sources, key=_order), limit)
    end = start | {line.rank: line.end for line in taken}
    return Window(taken, start, end, more)


def window_around(
    streams: Sequence[Stream], cursor: Cursor, *, earlier: Reader, later: Reader
) -> Window:
    """Return the lines on both sides of the cursor."""
    previous = window_before(streams, cursor, limit=WINDOW // 4, lines=earlier)
    following = window_after(streams, cursor, limit=WINDOW // 2, lines=later)
    lines = previous.lines + following.lines
    aim = next(iter(following.lines or previous.lines[-1:]), None)
    return Window(lines, previous.start, following.end, previous.more, following.more, aim)


def merge_whole_lines(streams: Iterable[Stream]) -> Iterator[Line]:
    """Return all lines, whole, oldest first, for a download."""
    return merge(*(read_whole(stream, first_offset(stream)) for stream in streams), key=_order)


def _order(line: Line) -> tuple[float, int]:
    return line.at.timestamp(), line.rank


def _take_window(lines: Iterable[Line], limit: int) -> tuple[list[Line], bool]:
    taken = list[Line]()
    room = WINDOW_BYTES
    for line in lines:
        taken.append(line)
        room -= len(line.data)
        if len(taken) >= limit or room <= 0:
            return taken, True
    return taken, False


def encode_cursor(cursor: Cursor) -> str:
    """Return a cursor as text for an address: ``0.1k-1.9z``."""
    return "-".join(f"{rank}.{_base36(offset)}" for rank, offset in sorted(cursor.items()))


def decode_cursor(text: str) -> Cursor | None:
    """Parse a cursor; ``None`` if ``text`` is not one."""
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
