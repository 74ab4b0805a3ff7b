"""Positions in the merged output: at a line, or at a time."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable
from datetime import datetime

from workloads.logs.reading.lines import next_line_start
from workloads.logs.reading.merge import Cursor
from workloads.logs.store import Index, Stream, size


def line_order(stream: Stream, offset: int) -> tuple[datetime, int]:
    """Return the sort key of a line among those of all ranks."""
    with Index(stream) as index:
        return index.time_at(offset), stream.rank


def cursor_at_line(streams: Collection[Stream], rank: int, offset: int) -> Cursor:
    """Return the cursor just before the line of ``rank`` at ``offset``."""
    own = next(stream for stream in streams if stream.rank == rank)
    moment, _ = line_order(own, offset)
    cursor = {s.rank: _start_at_time(s, moment, behind=s.rank < rank) for s in streams}
    return cursor | {rank: offset}


def cursor_at_time(streams: Iterable[Stream], moment: datetime) -> Cursor:
    """Return the cursor just before the first line that was collected at ``moment`` or later."""
    return {stream.rank: _start_at_time(stream, moment, behind=False) for stream in streams}


def _start_at_time(stream: Stream, moment: datetime, *, behind: bool) -> int:
    """The start of the first line collected at ``moment`` or later; only later if ``behind``."""
    with Index(stream) as index:
        cut = bisect_right if behind else bisect_left
        number = cut(index, moment, key=lambda piece: piece.moment)
        if number == len(index):
            return size(stream)
        return next_line_start(stream, index[number].offset)
