"""Follow the output of several ranks as one text: the existing lines, then new ones."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from heapq import merge as merged
from itertools import islice

from workloads.logs.reading import merge
from workloads.logs.reading.lines import (
    LONGEST_WHOLE,
    Line,
    read_whole,
    read_whole_backward,
    whole_line_start,
)
from workloads.logs.reading.positions import cursor_at_time
from workloads.logs.store import Stream, first_offset, latest_streams, streams
from workloads.logs.text import plain_text
from workloads.models import Workload

LINES_AT_ONCE = 2000
BYTES_AT_ONCE = 1024 * 1024


@dataclass
class MergedOutput:
    """Remembers how far each stream was read. ``names`` are those of the chosen ranks. If run and
    attempt are ``fixed``, later ones are not followed."""

    names: Mapping[int, str]
    is_fixed: bool
    positions: dict[Stream, int] = field(default_factory=dict)
    unfinished: dict[Stream, Line] = field(default_factory=dict)  # last states, not returned yet
    ended: set[Stream] = field(default_factory=set)  # whose last line was returned unfinished

    @classmethod
    def of(
        cls,
        workload: Workload,
        names: Mapping[int, str],
        *,
        run: int | None,
        attempt: int | None,
        tail: int | None,
        since: datetime | None,
    ) -> "MergedOutput":
        """Start with the last ``tail`` lines, and without lines collected before ``since``."""
        is_fixed = run is not None or attempt is not None
        if run is None:
            run = workload.run
        if attempt is None:
            attempt = workload.attempt
        stored = latest_streams(workload.pk, run, attempt)
        chosen = [stream for rank, stream in stored.items() if rank in names]
        starts = [{stream.rank: 0 for stream in chosen}]
        if tail is not None:
            last = merge.last_window(chosen, limit=tail, unfinished=True, lines=read_whole_backward)
            starts.append(last.start)
        if tail == 0:
            starts.append(merge.end_cursor(chosen, unfinished=True))
        if since is not None:
            parts = cursor_at_time(chosen, since)
            starts.append({it.rank: whole_line_start(it, parts[it.rank]) for it in chosen})
        # Every condition holds, so each stream begins at the last of its starts.
        positions = {it: max(start.get(it.rank, 0) for start in starts) for it in chosen}
        return cls(names, is_fixed, positions)

    def lines(self, workload: Workload, *, last: bool) -> list[Line]:
        """Return new lines, oldest first, up to a limit.

        If these are the ``last`` ones that will be asked for, or the output is complete, the last
        line of a rank counts even without a line break. Otherwise it is in ``unfinished``.
        """
        self._add_new_streams(workload)
        is_last = last or workload.logs_complete or self.is_fixed
        sources = [self._lines_after(stream) for stream in self.positions.keys() - self.ended]
        lines = list[Line]()
        room = BYTES_AT_ONCE
        for line, stream in islice(merged(*sources, key=lambda it: it[0].order), LINES_AT_ONCE):
            is_finished = line.data.endswith(b"\n") or len(line.data) >= LONGEST_WHOLE
            if not is_finished and not is_last:
                # Earlier states are not read again.
                self.positions[stream] = line.end - len(line.data)
                self.unfinished[stream] = line
                continue
            if not is_finished:
                self.ended.add(stream)  # what it prints meanwhile would look like another line
            self.positions[stream] = line.end
            self.unfinished.pop(stream, None)
            lines.append(line)
            room -= len(line.data)
            if room <= 0:
                break
        return lines

    def text(self, line: Line, *, named: bool, timed: bool) -> str:
        """Return a line without its line break, with name and time of its rank in front of it."""
        moment = f"{line.at:%Y-%m-%dT%H:%M:%S.%fZ} " if timed else ""
        name = f"{self.names.get(line.rank, line.rank)} " if named else ""
        return f"{moment}{name}{plain_text(line.data)}"

    def _lines_after(self, stream: Stream) -> Iterator[tuple[Line, Stream]]:
        for line in read_whole(stream, max(self.positions[stream], first_offset(stream))):
            yield line, stream

    def _add_new_streams(self, workload: Workload) -> None:
        """Add ranks that have started, and streams of later attempts."""
        if self.is_fixed:
            return
        newest = max(((it.run, it.attempt) for it in self.positions), default=(workload.run, 0))
        for stream in streams(workload.pk):
            if stream.rank in self.names and (stream.run, stream.attempt) >= newest:
                self.positions.setdefault(stream, 0)
