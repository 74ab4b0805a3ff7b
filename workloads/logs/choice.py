"""Which part of a workload's output someone looks at, as it stands in the address."""

from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlencode

from django.http import QueryDict

from core.query import search_text, whole_number
from workloads.logs import merge
from workloads.logs.lines import Line
from workloads.logs.places import late
from workloads.logs.store import Stream, latest, streams
from workloads.models import Workload
from workloads.page.text import shown

COLOURS = 8


@dataclass(frozen=True)
class Told:
    """A line as the page shows it. ``colour`` numbers the rank's colour."""

    rank: int
    name: str
    colour: int
    line: Line
    text: str


@dataclass(frozen=True)
class Choice:
    """``ranks`` is empty for all of them. ``tries`` are the (run, attempt) pairs with output."""

    workload: Workload
    names: dict[int, str]
    tries: list[tuple[int, int]]
    run: int
    attempt: int
    ranks: tuple[int, ...]
    text: str

    @classmethod
    def of(cls, workload: Workload, query: QueryDict) -> Self:
        there = streams(workload.pk)
        tries = sorted({(stream.run, stream.attempt) for stream in there})
        asked = _numbers(query.get("try", "").split("-"))
        latest = tries[-1] if tries else (workload.run, workload.attempt)
        run, attempt = (asked[0], asked[1]) if len(asked) == 2 else latest
        names = {rank.rank: rank.name for rank in workload.ranks.all()}
        ranks = {rank for rank in _numbers(query.getlist("rank")) if rank in names}
        return cls(
            workload=workload,
            names=names,
            tries=tries,
            run=run,
            attempt=attempt,
            ranks=() if len(ranks) == len(names) else tuple(sorted(ranks)),
            text=search_text(query, "text"),
        )

    @property
    def streams(self) -> list[Stream]:
        there = latest(self.workload.pk, self.run, self.attempt)
        return [
            there.get(rank) or Stream(self.workload.pk, self.run, self.attempt, rank)
            for rank in sorted(self.names)
            if not self.ranks or rank in self.ranks
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
        pairs: list[tuple[str, Any]] = [("try", f"{self.run}-{self.attempt}")]
        pairs += [("rank", rank) for rank in self.ranks]
        pairs += [("text", self.text)] if self.text else []
        return urlencode(pairs)

    @property
    def people(self) -> list[tuple[int, str, int, bool]]:
        """Each rank with its name, colour, and whether it is shown."""
        return [
            (rank, name, rank % COLOURS, not self.ranks or rank in self.ranks)
            for rank, name in sorted(self.names.items())
        ]

    def window(self, *, before: str = "", after: str = "") -> merge.Window:
        """The window beside a cursor, or the last lines."""
        earlier, later = merge.decode(before), merge.decode(after)
        if later is not None:
            return merge.after(self.streams, later, text=self.text, unfinished=self.is_over)
        if earlier is not None:
            return merge.before(self.streams, earlier, text=self.text)
        return merge.tail(self.streams, text=self.text, unfinished=self.is_over)

    def told(self, lines: list[Line]) -> list[Told]:
        return [
            Told(one.rank, self.names.get(one.rank, ""), one.rank % COLOURS, one, shown(one.data))
            for one in lines
        ]


def _numbers(texts: list[str]) -> list[int]:
    return [number for text in texts if (number := whole_number(text)) is not None]
