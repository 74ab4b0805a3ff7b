"""Count the matching lines in the streams of several ranks, and find the next one.

Counting continues from request to request: the counts are cached for the next one, whichever user
makes it. So a log that was searched is not read again for the next step, and of a growing log only
new lines are read.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from uuid import UUID

from django.core.cache import cache

from workloads.logs.reading.lines import Line
from workloads.logs.reading.merge import Cursor
from workloads.logs.reading.positions import cursor_at_line, line_order
from workloads.logs.search.needle import Needle
from workloads.logs.search.segments import SEGMENT, Segments, Tally
from workloads.logs.store import Index, Stream

KEPT_SECONDS = 3600
Tallies = dict[tuple[int, int, int], Tally]  # keys: run, attempt and rank


@dataclass(frozen=True)
class Hit:
    """A matching line, with its ``number`` among all of them, from 1."""

    number: int
    rank: int
    offset: int


class Hits:
    """A search for a non-empty ``text`` in at least one stream. A last line without a line break
    counts only if ``unfinished``."""

    def __init__(self, streams: Sequence[Stream], text: str, *, unfinished: bool) -> None:
        needle = Needle(text)
        self._streams = {stream.rank: stream for stream in streams}
        self._segments = {
            stream.rank: Segments(stream, needle, unfinished=unfinished) for stream in streams
        }
        starts = [segments.start for segments in self._segments.values()]
        self._key = _cache_key(streams[0].workload_id, needle, starts)
        self._cached_tallies: Tallies = cache.get(self._key) or {}
        self._tallies = {
            stream.rank: self._cached_tallies.setdefault(_tally_key(stream), Tally())
            for stream in streams
        }

    @property
    def count(self) -> int:
        """Matching lines so far."""
        return sum(sum(tally.counts) for tally in self._tallies.values())

    @property
    def size(self) -> int:
        return sum(segments.end for segments in self._segments.values())

    @property
    def searched(self) -> int:
        """Bytes searched so far."""
        return sum(
            segments.end if self._is_counted(rank) else len(self._tallies[rank].full) * SEGMENT
            for rank, segments in self._segments.items()
        )

    @property
    def is_done(self) -> bool:
        return all(self._is_counted(rank) for rank in self._segments)

    def search(self, seconds: float) -> None:
        """Continue counting for about ``seconds``, but at least one segment."""
        until = monotonic() + seconds
        open_ranks = [rank for rank in self._segments if not self._is_counted(rank)]
        for rank in open_ranks:
            self._count(rank, until)
            if monotonic() > until:
                break
        if open_ranks:
            cache.set(self._key, self._cached_tallies, KEPT_SECONDS)

    def step(self, line: tuple[int, int] | None, go: str = "next") -> Hit | None:
        """The next hit after ``line`` (rank and offset), the ``previous`` one, or with ``here`` the
        line itself if it matches; it wraps around. Requires a complete count."""
        ends = {rank: segments.end for rank, segments in self._segments.items()}
        if line is None:
            return self._last_hit(ends) if go == "previous" else self._first_hit({})
        cursor = cursor_at_line(self._streams.values(), *line)
        if go == "previous":
            return self._last_hit(cursor) or self._last_hit(ends)
        cursor[line[0]] = line[1] + (go != "here")
        return self._first_hit(cursor) or self._first_hit({})

    def forward(self, stream: Stream, start: int) -> Iterator[Line]:
        """Like ``lines.forward``, only matching lines. Requires a complete count."""
        return self._with_times(stream, self._forward(stream.rank, start))

    def backward(self, stream: Stream, end: int) -> Iterator[Line]:
        """Like ``lines.backward``, only matching lines. Requires a complete count."""
        return self._with_times(stream, self._backward(stream.rank, end))

    def _with_times(self, stream: Stream, lines: Iterable[tuple[int, bytes]]) -> Iterator[Line]:
        with Index(stream) as index:
            for offset, data in lines:
                yield Line(stream.rank, index.time_at(offset), offset, offset + len(data), data)

    def _is_counted(self, rank: int) -> bool:
        tally = self._tallies[rank]
        segments = self._segments[rank]
        return tally.end == segments.end and len(tally.full) >= segments.full

    def _count(self, rank: int, until: float) -> None:
        tally = self._tallies[rank]
        segments = self._segments[rank]
        while len(tally.full) < segments.full:
            tally.full.append(segments.count(len(tally.full)))
            tally.rest = []
            tally.end = 0
            if monotonic() > until:
                return
        tally.rest = [segments.count(number) for number in range(segments.full, len(segments))]
        tally.end = segments.end

    def _first_hit(self, cursor: Cursor) -> Hit | None:
        lines = [
            (rank, offset)
            for rank in self._segments
            if (offset := self._first_in(rank, cursor.get(rank, 0))) is not None
        ]
        return self._numbered_hit(min(lines, key=self._order)) if lines else None

    def _last_hit(self, cursor: Cursor) -> Hit | None:
        lines = [
            (rank, offset)
            for rank in self._segments
            if (offset := self._last_in(rank, cursor.get(rank, 0))) is not None
        ]
        return self._numbered_hit(max(lines, key=self._order)) if lines else None

    def _order(self, line: tuple[int, int]) -> tuple[datetime, int]:
        rank, offset = line
        return line_order(self._streams[rank], offset)

    def _numbered_hit(self, line: tuple[int, int]) -> Hit:
        cursor = cursor_at_line(self._streams.values(), *line)
        return Hit(1 + sum(self._count_before(*place) for place in cursor.items()), *line)

    def _first_in(self, rank: int, offset: int) -> int | None:
        """The start of the first match at ``offset`` or later."""
        return next((line for line, _ in self._forward(rank, offset)), None)

    def _last_in(self, rank: int, offset: int) -> int | None:
        """The start of the last match before ``offset``."""
        return next((line for line, _ in self._backward(rank, offset)), None)

    def _forward(self, rank: int, offset: int) -> Iterator[tuple[int, bytes]]:
        counts = self._tallies[rank].counts
        for number in range(offset // SEGMENT, len(counts)):
            if counts[number]:
                lines = self._segments[rank].lines(number)
                yield from (line for line in lines if line[0] >= offset)

    def _backward(self, rank: int, offset: int) -> Iterator[tuple[int, bytes]]:
        counts = self._tallies[rank].counts
        for number in reversed(range(min(-(-offset // SEGMENT), len(counts)))):
            if counts[number]:
                lines = list(self._segments[rank].lines(number))
                yield from (line for line in reversed(lines) if line[0] < offset)

    def _count_before(self, rank: int, offset: int) -> int:
        """The number of matches before ``offset``."""
        counts = self._tallies[rank].counts
        number = offset // SEGMENT
        near = self._segments[rank].lines(number) if any(counts[number : number + 1]) else ()
        return sum(counts[:number]) + sum(1 for line, _ in near if line < offset)


def _cache_key(workload_id: UUID, needle: Needle, starts: Sequence[int]) -> str:
    """The cache key. It contains the starts of the streams: after a cut everything is counted
    again."""
    said = [needle.text, *map(str, starts)] if any(starts) else [needle.text]
    text = hashlib.sha256("\n".join(said).encode()).hexdigest()
    return f"log-search:{workload_id}:{text}"


def _tally_key(stream: Stream) -> tuple[int, int, int]:
    return stream.run, stream.attempt, stream.rank
