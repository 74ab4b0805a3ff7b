"""The parts in which lines are shown on a page and searched, of several ranks."""

from collections.abc import Iterable, Iterator
from heapq import merge

from workloads.logs.reading.lines import Line, read_forward
from workloads.logs.store import Stream


def merged_parts(streams: Iterable[Stream]) -> Iterator[Line]:
    """Return all parts of all lines, oldest first."""
    parts = (read_forward(stream, 0, unfinished=True) for stream in streams)
    return merge(*parts, key=lambda part: part.order)
