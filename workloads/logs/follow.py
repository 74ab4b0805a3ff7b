"""Follow the output of several ranks as one text: the existing lines, then new ones."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from heapq import merge as merged
from itertools import islice

from workloads.logs.reading import merge
from workloads.logs.reading.lines import Line, read_forward
from workloads.logs.reading.positions import cursor_at_time
from workloads.logs.store import Stream, latest_streams, streams
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
            starts.append(merge.last_window(chosen, limit=tail, unfinished=True).start)
        if tail == 0:
            starts.append(merge.end_cursor(chosen, unfinished=True))
        if since is not None:
            starts.append(cursor_at_time(chosen, since))
        # Every condition holds, so each stream begins at the last of its starts.
        positions = {it: max(start.get(it.rank, 0) for start in starts) for it in chosen}
        return cls(names, is_fixed, positions)

    def lines(self, workload: Workload) -> list[Line]:
        """Return new lines, oldest first, up to a limit. Once the output is complete, the last line
        of a rank counts even without a line break."""
        self._add_new_streams(workload)
        is_complete = workload.logs_complete or self.is_fixed
        sources = [self._lines_after(stream, unfinished=is_complete) for stream in self.positions]
        lines = list[Line]()
        room = BYTES_AT_ONCE
        for line, stream in islice(merged(*sources, key=lambda it: it[0].order), LINES_AT_ONCE):
            self.positions[stream] = line.end
            lines.append(line)
            room -= len(line.data)
            if room <= 0:
                break
        return lines

    def text(self, line: Line, *, named: bool, timed: bool) -> str:
        moment = f"{line.at:%Y-%m-%dT%H:%M:%S.%fZ} " if timed else ""
        name = f"{self.names.get(line.rank, line.rank)} " if named else ""
        return f"{moment}{name}{plain_text(line.data)}\n"

    def _lines_after(self, stream: Stream, *, unfinished: bool) -> Iterator[tuple[Line, Stream]]:
        for line in read_forward(stream, self.positions[stream], unfinished=unfinished):
            yield line, stream

    def _add_new_streams(self, workload: Workload) -> None:
        """Add ranks that have started, and streams of later attempts."""
        if self.is_fixed:
            return
        newest = max(((it.run, it.attempt) for it in self.positions), default=(workload.run, 0))
        for stream in streams(workload.pk):
            if stream.rank in self.names and (stream.run, stream.attempt) >= newest:
                self.positions.setdefault(stream, 0)
