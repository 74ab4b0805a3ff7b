"""The part of a workload's output that an address selects."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Self
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.safestring import SafeString

from core.text import in_utc
from core.web.query import exact_text, format_ranges, parse_number, parse_ranges
from workloads.logs.places import missing_reason
from workloads.logs.reading import merge
from workloads.logs.reading.lines import (
    Line,
    is_overwritten,
    line_start,
    read_backward,
    read_forward,
    unfinished_line,
    whole_characters,
)
from workloads.logs.reading.positions import cursor_at_line, cursor_at_time
from workloads.logs.search import Hits
from workloads.logs.store import Index, Stream, first_offset, latest_streams, size, streams
from workloads.logs.text import mark_pattern, plain_text, render_markup
from workloads.models import Workload

COLOURS = 8
LONGEST_LINE_ADDRESS = 40  # characters
ALL = "all"
NONE = "none"
FIRST_ERROR = "error"  # instead of a line
SEARCH_SECONDS = 0.3  # per request; the page repeats it until everything is searched


def line_address(line: Line) -> str:
    """The name of a line in addresses, within its run and attempt."""
    return merge.encode_cursor({line.rank: line.offset})


@dataclass(frozen=True)
class ShownLine:
    """A line as the page shows it. ``colour`` is the number of the rank's color."""

    rank: int
    name: str
    colour: int
    line: Line
    at: datetime  # when its last state was printed
    text: SafeString

    @property
    def line_address(self) -> str:
        return line_address(self.line)


@dataclass(frozen=True)
class RankChoice:
    """A rank to choose; ``alone`` is the query that shows only this one."""

    rank: int
    name: str
    colour: int
    is_shown: bool
    alone: str


@dataclass(frozen=True)
class Choice:
    """A selection. ``ranks`` are shown; ``refused`` were asked for but do not exist. ``tries`` are
    the (run, attempt) pairs with output. ``text`` is searched for; with ``only`` other lines are
    hidden. ``place`` is the line in the address."""

    workload: Workload
    names: dict[int, str]
    attempts: list[tuple[int, int]]
    run: int
    attempt: int
    ranks: tuple[int, ...]
    unknown_ranks: list[str]
    text: str
    only_matches: bool
    line_address: str

    @classmethod
    def of(cls, workload: Workload, query: QueryDict) -> Self:
        attempts = sorted({(stream.run, stream.attempt) for stream in streams(workload.pk)})
        run, attempt = attempts[-1] if attempts else (workload.run, workload.attempt)
        pair = query.get("try", "")
        address = query.get("line", "")[:LONGEST_LINE_ADDRESS]
        if address == FIRST_ERROR:
            pair, address = _first_error(workload) or (pair, address)
        numbers = _parse_numbers(pair.split("-"))
        if len(numbers) == 2:
            run, attempt = numbers
        names = {rank.rank: rank.name for rank in workload.ranks.all()}
        ranks, unknown_ranks = _chosen_ranks(query, names)
        return cls(
            workload=workload,
            names=names,
            attempts=attempts,
            run=run,
            attempt=attempt,
            ranks=tuple(sorted(ranks)),
            unknown_ranks=unknown_ranks,
            text=exact_text(query, "text"),
            only_matches="only" in query,
            line_address=address,
        )

    @property
    def streams(self) -> list[Stream]:
        stored = latest_streams(self.workload.pk, self.run, self.attempt)
        return [
            stored.get(rank) or Stream(self.workload.pk, self.run, self.attempt, rank)
            for rank in self.ranks
        ]

    @property
    def is_over(self) -> bool:
        """Whether the output is complete, so that a last line without a line break counts."""
        is_older = (self.run, self.attempt) < (self.workload.run, self.workload.attempt)
        return is_older or self.workload.logs_complete

    @property
    def missing_reason(self) -> str:
        """Why the end of the output is missing, if known."""
        return "" if self.is_over else missing_reason(self.workload.pk)

    @property
    def query(self) -> str:
        return self.query_parameters_of(self.ranks)

    @property
    def query_of_all(self) -> str:
        """The query that shows all ranks."""
        return self.query_parameters_of(self.names)

    @property
    def query_of_none(self) -> str:
        return self.query_parameters_of(())

    def query_parameters_of(self, ranks: Collection[int]) -> str:
        """A query for these ranks; empty for all."""
        pairs = [("try", f"{self.run}-{self.attempt}")]
        pairs += [("ranks", format_ranges(ranks) or NONE)] if len(ranks) < len(self.names) else []
        pairs += [("text", self.text)] if self.text else []
        pairs += [("only", "on")] if self.only_matches else []
        return urlencode(pairs)

    @property
    def only_rank(self) -> int | None:
        """The only rank that is shown, if there are several."""
        return self.ranks[0] if len(self.ranks) == 1 < len(self.names) else None

    @property
    def has_many(self) -> bool:
        """Whether there are too many ranks for a line of checkboxes and for colors of their own."""
        return len(self.names) > COLOURS

    @property
    def ranges(self) -> str:
        """The shown ranks as ranges; empty for all."""
        return format_ranges(self.ranks) if len(self.ranks) < len(self.names) else ""

    @property
    def missing_line(self) -> str:
        """A message if the line in the address does not exist."""
        if self.line_address == FIRST_ERROR:
            return "No error was found in the log of this run"
        is_missing = self.line_address and self.line(self.line_address) is None
        return "The line of this link was not found" if is_missing else ""

    @property
    def choices(self) -> list[RankChoice]:
        shown = set(self.ranks)
        return [
            RankChoice(rank, name, rank % COLOURS, rank in shown, self.query_parameters_of([rank]))
            for rank, name in sorted(self.names.items())
        ]

    @property
    def hits(self) -> Hits | None:
        """The hits of the search, if there is one."""
        if not self.text or not self.streams:
            return None
        return Hits(self.streams, self.text, unfinished=self.is_over)

    def line(self, address: str) -> tuple[int, int] | None:
        """Return rank and offset of a line by its address; ``None`` if it does not exist."""
        cursor = merge.decode_cursor(address) or {}
        for stream in self.streams:
            offset = cursor.get(stream.rank, -1)
            if len(cursor) == 1 and first_offset(stream) <= offset < size(stream):
                return stream.rank, line_start(stream, offset)
        return None

    def window(self, *, before: str = "", after: str = "", time: str = "") -> merge.Window:
        """Return the window before or after a cursor, around a line or a time, or of the last
        lines. If only matching lines are shown, it is empty and announces more until the search is
        complete."""
        hits = self.hits if self.only_matches else None
        earlier = merge.decode_cursor(before)
        later = merge.decode_cursor(after)
        middle = self._middle(time)
        if hits:
            hits.search(SEARCH_SECONDS)
            if not hits.is_done:
                cursor = later or earlier or merge.end_cursor(self.streams, unfinished=self.is_over)
                return merge.Window([], cursor, cursor, more=True)
        next_lines = hits.forward if hits else partial(read_forward, unfinished=self.is_over)
        last_lines = hits.backward if hits else read_backward
        if middle is not None:
            return merge.window_around(self.streams, middle, later=next_lines, earlier=last_lines)
        if later is not None:
            return merge.window_after(self.streams, later, lines=next_lines)
        if earlier is not None:
            return merge.window_before(self.streams, earlier, lines=last_lines)
        return merge.last_window(self.streams, unfinished=self.is_over, lines=last_lines)

    def _middle(self, time: str) -> merge.Cursor | None:
        line = self.line(self.line_address)
        moment = _parse_time(time)
        if line is not None:
            return cursor_at_line(self.streams, *line)
        return cursor_at_time(self.streams, moment) if moment else None

    def shown_lines(self, lines: list[Line]) -> list[ShownLine]:
        """Return the lines as the page shows them.

        Earlier parts of a long progress bar are left out, unless they may be hits of the search.
        """
        streams_by_rank = {stream.rank: stream for stream in self.streams}
        return [
            self._shown_line(streams_by_rank[line.rank], line)
            for line in lines
            if self.text
            or not is_overwritten(streams_by_rank[line.rank], line, unfinished=self.is_over)
        ]

    def unfinished_lines(self) -> list[ShownLine]:
        """Return the ranks' last lines that have no line break yet, such as progress bars."""
        if self.is_over or self.only_matches:
            return []
        shown = []
        for stream in self.streams:
            line = unfinished_line(stream)
            if line and plain_text(line.data).strip():
                shown.append(self._shown_line(stream, line))
        return shown

    def _shown_line(self, stream: Stream, line: Line) -> ShownLine:
        at = line.at
        if b"\r" in line.data.rstrip(b"\r\n"):
            with Index(stream) as index:
                at = index.time_at(line.end - 1)
        return ShownLine(
            line.rank,
            self.names.get(line.rank, ""),
            line.rank % COLOURS,
            line,
            at,
            render_markup(whole_characters(stream, line), mark_pattern(self.text)),
        )


def _chosen_ranks(query: QueryDict, names: Mapping[int, str]) -> tuple[set[int], list[str]]:
    """Return the requested ranks, and the requested values that are not ranks. A form without a
    ticked box requests none; an address without ranks requests all."""
    text = query.get("ranks", "").strip()
    if text and text not in (ALL, NONE):
        return parse_ranges(text, names)
    ticked = {rank for rank in _parse_numbers(query.getlist("rank")) if rank in names}
    if ticked and not text:
        return ticked, []
    if text == NONE or ("ranks" in query and text != ALL):
        return set(), []
    return set(names), []


def _first_error(workload: Workload) -> tuple[str, str] | None:
    """Return the attempt and the line of the first error, as in addresses; ``None`` if unknown."""
    line = workload.failure_line
    if line.get("offset", -1) < 0:
        return None
    return f"{workload.run}-{line['attempt']}", merge.encode_cursor({line["rank"]: line["offset"]})


def _parse_time(text: str) -> datetime | None:
    """Parse a time, in UTC unless it has a zone; ``None`` if it is not one."""
    try:
        return in_utc(datetime.fromisoformat(text))
    except ValueError:
        return None


def _parse_numbers(texts: list[str]) -> list[int]:
    return [number for text in texts if (number := parse_number(text)) is not None]
