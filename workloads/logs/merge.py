"""The lines of several ranks in the order in which they were collected, a window at a time.

A cursor holds, for each rank, up to where its lines were told. It says all there is to know, so a
window deep in a large log costs what the first one does.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge

from workloads.logs.lines import Line, backward, end_of, forward
from workloads.logs.store import Stream, size

WINDOW = 1000  # lines
SEARCHED_BYTES = 8 * 1024 * 1024  # looked through for one window of a search
Cursor = dict[int, int]
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Window:
    """Lines, oldest first. ``start`` and ``end`` are where the windows beside it go on.

    ``more`` says that there is more in the direction of reading: the limit was reached, or a
    search looked through its share.
    """

    lines: list[Line]
    start: Cursor
    end: Cursor
    more: bool


def tail(
    streams: Sequence[Stream], *, text: str = "", limit: int = WINDOW, unfinished: bool = False
) -> Window:
    """The last lines. One that has no line break yet only if ``unfinished``."""
    end = {stream.rank: end_of(stream, unfinished=unfinished) for stream in streams}
    return before(streams, end, text=text, limit=limit)


def before(
    streams: Sequence[Stream], cursor: Cursor, *, text: str = "", limit: int = WINDOW
) -> Window:
    """The last lines before the cursor. One beyond the end is at the end: reading back from
    nowhere, a block at a time, would take for ever."""
    end = {stream.rank: min(cursor.get(stream.rank, 0), size(stream)) for stream in streams}
    start = dict(end)
    sources = [backward(stream, end[stream.rank]) for stream in streams]

    def told(line: Line) -> None:
        start[line.rank] = line.offset

    lines, more = _take(merge(*sources, key=_order, reverse=True), told, text, limit)
    return Window(lines[::-1], start, end, more)


def after(
    streams: Sequence[Stream],
    cursor: Cursor,
    *,
    text: str = "",
    limit: int = WINDOW,
    unfinished: bool = False,
) -> Window:
    """The first lines after the cursor."""
    end = {stream.rank: cursor.get(stream.rank, 0) for stream in streams}
    start = dict(end)
    sources = [forward(s, end[s.rank], unfinished=unfinished) for s in streams]

    def told(line: Line) -> None:
        end[line.rank] = line.end

    lines, more = _take(merge(*sources, key=_order), told, text, limit)
    return Window(lines, start, end, more)


def everything(streams: Iterable[Stream]) -> Iterator[Line]:
    """Every line, oldest first, for a download."""
    return merge(*(forward(stream, 0, unfinished=True) for stream in streams), key=_order)


def _order(line: Line) -> tuple[float, int]:
    return line.at.timestamp(), line.rank


def _take(
    lines: Iterator[Line], told: Callable[[Line], None], text: str, limit: int
) -> tuple[list[Line], bool]:
    found: list[Line] = []
    needle, budget = text.casefold(), SEARCHED_BYTES
    for line in lines:
        told(line)
        budget -= len(line.data)
        if not needle or needle in line.data.decode(errors="replace").casefold():
            found.append(line)
        if len(found) >= limit or budget <= 0:
            return found, True
    return found, False


def encode(cursor: Cursor) -> str:
    """A cursor for an address: ``0.1k-1.9z``."""
    return "-".join(f"{rank}.{_base36(offset)}" for rank, offset in sorted(cursor.items()))


def decode(text: str) -> Cursor | None:
    """``None`` for what is none."""
    try:
        pairs = [part.split(".") for part in text.split("-")]
        return {int(rank): int(offset, 36) for rank, offset in pairs if int(offset, 36) >= 0}
    except ValueError:
        return None


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = ALPHABET[digit] + digits
    return digits or "0"
