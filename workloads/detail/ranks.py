"""The filter of a workload's ranks, which is part of the address."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlencode

from django.http import QueryDict

from core.web.query import parse_ranges, search_text
from spec.phases import RankPhase
from workloads.models import Rank


@dataclass(frozen=True)
class Pill:
    label: str
    query: str
    is_chosen: bool


@dataclass(frozen=True)
class RankFilter:
    """A filter of ranks. An empty ``phase`` means all. ``text`` is a list of numbers such as
    ``0-3,8``, or part of a pod's or node's name."""

    ranks: Sequence[Rank]
    phase: str
    text: str

    @classmethod
    def from_query(cls, ranks: Sequence[Rank], query: QueryDict) -> Self:
        """Parse the filter in an address. An unknown phase means all."""
        phase = query.get("phase", "")
        return cls(ranks, phase if phase in {*RankPhase} else "", search_text(query))

    @property
    def query(self) -> str:
        return self._query_for(self.phase)

    @property
    def matching_ranks(self) -> list[Rank]:
        return [rank for rank in self._ranks_with_text if self.phase in {"", rank.phase}]

    @property
    def pills(self) -> list[Pill]:
        """A pill for all ranks, and one for each phase that occurs. The counts are of ranks that
        match the text."""
        counts = Counter(rank.phase for rank in self._ranks_with_text)
        phases = [phase for phase in RankPhase if counts[phase] or phase == self.phase]
        pills = [Pill(f"All {len(self._ranks_with_text)}", self._query_for(""), not self.phase)]
        return pills + [
            Pill(f"{phase} {counts[phase]}", self._query_for(phase), phase == self.phase)
            for phase in phases
        ]

    @property
    def _ranks_with_text(self) -> list[Rank]:
        numbers, refused = parse_ranges(self.text, {rank.rank for rank in self.ranks})
        if numbers and not refused:
            return [rank for rank in self.ranks if rank.rank in numbers]
        text = self.text.lower()
        return [
            rank for rank in self.ranks if text in rank.name.lower() or text in rank.node.lower()
        ]

    def _query_for(self, phase: str) -> str:
        values = {"phase": phase, "q": self.text}
        return urlencode({key: value for key, value in values.items() if value})
