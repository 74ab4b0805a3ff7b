"""Which part of a workload's output someone looks at, as it stands in the address."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Self
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.safestring import SafeString

from core.web.query import numbers_of, ranges_of, search_text, whole_number
from workloads.logs.places import late
from workloads.logs.reading import merge
from workloads.logs.reading.lines import Line, backward, forward, start_of
from workloads.logs.reading.positions import at, beside
from workloads.logs.search import Hits
from workloads.logs.store import Stream, first, latest, size, streams
from workloads.logs.text import marking, markup
from workloads.models import Workload

COLOURS = 8
LONGEST_PLACE = 40  # characters
ALL, NONE = "all", "none"
FIRST_ERROR = "error"  # in place of a line
SEARCH_SECONDS = 0.3  # a request; the page asks again until all is searched


def place_of(line: Line) -> str:
    """What names it in addresses, within its run and attempt."""
    return merge.encode({line.rank: line.offset})


@dataclass(frozen=True)
class ShownLine:
    """A line as the page shows it. ``colour`` numbers the rank's colour."""

    rank: int
    name: str
    colour: int
    line: Line
    text: SafeString

    @property
    def place(self) -> str:
        return place_of(self.line)


@dataclass(frozen=True)
class RankChoice:
    """A rank that can be shown; ``alone`` is the query of the page that shows no other."""

    rank: int
    name: str
    colour: int
    is_shown: bool
    alone: str


@dataclass(frozen=True)
class Choice:
    """``ranks`` are those that are shown, ``refused`` what was asked for and is none. ``tries`` are
    the (run, attempt) pairs with output. ``text`` is searched for; with ``only`` no other lines are
    shown. ``place`` is the line that the address names."""

    workload: Workload
    names: dict[int, str]
    tries: list[tuple[int, int]]
    run: int
    attempt: int
    ranks: tuple[int, ...]
    refused: list[str]
    text: str
    only: bool
    place: str

    @classmethod
    def of(cls, workload: Workload, query: QueryDict) -> Self:
        there = streams(workload.pk)
        tries = sorted({(stream.run, stream.attempt) for stream in there})
        pair, place = query.get("try", ""), query.get("line", "")[:LONGEST_PLACE]
        if place == FIRST_ERROR:
            pair, place = _first_error(workload) or (pair, place)
        asked = _numbers(pair.split("-"))
        latest = tries[-1] if tries else (workload.run, workload.attempt)
        run, attempt = (asked[0], asked[1]) if len(asked) == 2 else latest
        names = {rank.rank: rank.name for rank in workload.ranks.all()}
        ranks, refused = _ranks(query, names)
        return cls(
            workload=workload,
            names=names,
            tries=tries,
            run=run,
            attempt=attempt,
            ranks=tuple(sorted(ranks)),
            refused=refused,
            text=search_text(query, "text"),
            only="only" in query,
            place=place,
        )

    @property
    def streams(self) -> list[Stream]:
        there = latest(self.workload.pk, self.run, self.attempt)
        return [
            there.get(rank) or Stream(self.workload.pk, self.run, self.attempt, rank)
            for rank in self.ranks
        ]

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be printed, so that a last line without a break is whole."""
        older = (self.run, self.attempt) < (self.workload.run, self.workload.attempt)
        return older or self.workload.logs_complete

    @property
    def late(self) -> str:
        """Why the last of it is not here yet, where that is known."""
        return "" if self.is_over else late(self.workload.pk)

    @property
    def query(self) -> str:
        return self.query_of(self.ranks)

    @property
    def of_all(self) -> str:
        """The query of the page that shows all ranks."""
        return self.query_of(self.names)

    @property
    def of_none(self) -> str:
        return self.query_of(())

    def query_of(self, ranks: Collection[int]) -> str:
        """As the address says it; all ranks go without saying."""
        pairs = [("try", f"{self.run}-{self.attempt}")]
        pairs += [("ranks", ranges_of(ranks) or NONE)] if len(ranks) < len(self.names) else []
        pairs += [("text", self.text)] if self.text else []
        pairs += [("only", "on")] if self.only else []
        return urlencode(pairs)

    @property
    def one_of_many(self) -> int | None:
        """The rank that alone is shown of several."""
        return self.ranks[0] if len(self.ranks) == 1 < len(self.names) else None

    @property
    def has_many(self) -> bool:
        """Whether there are more ranks than a line of boxes shows, and than there are colours."""
        return len(self.names) > COLOURS

    @property
    def ranges(self) -> str:
        """The ranks that are shown, in short; empty for all of them."""
        return ranges_of(self.ranks) if len(self.ranks) < len(self.names) else ""

    @property
    def lacks_line(self) -> str:
        """What to say where the line that the address names is not here."""
        if self.place == FIRST_ERROR:
            return "No error was found in the log of this run"
        lacks = self.place and self.line(self.place) is None
        return "The line of this link was not found" if lacks else ""

    @property
    def choices(self) -> list[RankChoice]:
        shown = set(self.ranks)
        return [
            RankChoice(rank, name, rank % COLOURS, rank in shown, self.query_of([rank]))
            for rank, name in sorted(self.names.items())
        ]

    @property
    def hits(self) -> Hits | None:
        """Of the search, where there is one."""
        if not self.text or not self.streams:
            return None
        return Hits(self.streams, self.text, unfinished=self.is_over)

    def line(self, place: str) -> tuple[int, int] | None:
        """Rank and offset of a line as an address names it, if it is here."""
        cursor = merge.decode(place) or {}
        for stream in self.streams:
            offset = cursor.get(stream.rank, -1)
            if len(cursor) == 1 and first(stream) <= offset < size(stream):
                return stream.rank, start_of(stream, offset)
        return None

    def window(self, *, before: str = "", after: str = "", time: str = "") -> merge.Window:
        """The window beside a cursor, around the line of the address or a time, or the last lines.
        Where only those with a text are shown, an empty one that says that there is more, until
        all is searched."""
        hits = self.hits if self.only else None
        earlier, later, middle = merge.decode(before), merge.decode(after), self._middle(time)
        if hits:
            hits.search(SEARCH_SECONDS)
            if not hits.is_done:
                here = later or earlier or merge.ends(self.streams, unfinished=self.is_over)
                return merge.Window([], here, here, more=True)
        next_lines = hits.forward if hits else partial(forward, unfinished=self.is_over)
        last_lines = hits.backward if hits else backward
        if middle is not None:
            return merge.around(self.streams, middle, later=next_lines, earlier=last_lines)
        if later is not None:
            return merge.after(self.streams, later, lines=next_lines)
        if earlier is not None:
            return merge.before(self.streams, earlier, lines=last_lines)
        return merge.tail(self.streams, unfinished=self.is_over, lines=last_lines)

    def _middle(self, time: str) -> merge.Cursor | None:
        line, moment = self.line(self.place), _moment(time)
        if line is not None:
            return beside(self.streams, *line)
        return at(self.streams, moment) if moment else None

    def named(self, lines: list[Line]) -> list[ShownLine]:
        mark = marking(self.text)
        return [
            ShownLine(
                one.rank,
                self.names.get(one.rank, ""),
                one.rank % COLOURS,
                one,
                markup(one.data, mark),
            )
            for one in lines
        ]


def _ranks(query: QueryDict, names: Mapping[int, str]) -> tuple[set[int], list[str]]:
    """Which of them the address asks for, and what of it is no rank. A form that has none of its
    boxes ticked asks for none, an address that says nothing for all."""
    text = query.get("ranks", "").strip()
    if text and text not in (ALL, NONE):
        return numbers_of(text, names)
    ticked = {rank for rank in _numbers(query.getlist("rank")) if rank in names}
    is_none = text == NONE or ("ranks" in query and text != ALL)
    if ticked and not text:
        return ticked, []
    return set() if is_none else set(names), []


def _first_error(workload: Workload) -> tuple[str, str] | None:
    """The attempt and the line that decided why it failed, as addresses name them."""
    line = workload.failure_line
    if line.get("offset", -1) < 0:
        return None
    return f"{workload.run}-{line['attempt']}", merge.encode({line["rank"]: line["offset"]})


def _moment(text: str) -> datetime | None:
    """Without a zone it is UTC; ``None`` for what is none."""
    try:
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except ValueError:
        return None


def _numbers(texts: list[str]) -> list[int]:
    return [number for text in texts if (number := whole_number(text)) is not None]
