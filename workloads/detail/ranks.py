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
    def of(cls, ranks: Sequence[Rank], query: QueryDict) -> Self:
        """The filter in an address. An unknown phase means all."""
        phase = query.get("phase", "")
        return cls(ranks, phase if phase in {*RankPhase} else "", search_text(query))

    @property
    def query(self) -> str:
        return self._query(self.phase)

    @property
    def shown(self) -> list[Rank]:
        return [rank for rank in self._named if self.phase in {"", rank.phase}]

    @property
    def pills(self) -> list[Pill]:
        """All ranks, and one pill for each phase that occurs. The counts are of ranks that match
        the text."""
        counts = Counter(rank.phase for rank in self._named)
        phases = [phase for phase in RankPhase if counts[phase] or phase == self.phase]
        pills = [Pill(f"All {len(self._named)}", self._query(""), not self.phase)]
        return pills + [
            Pill(f"{phase} {counts[phase]}", self._query(phase), phase == self.phase)
            for phase in phases
        ]

    @property
    def _named(self) -> list[Rank]:
        numbers, refused = parse_ranges(self.text, {rank.rank for rank in self.ranks})
        if numbers and not refused:
            return [rank for rank in self.ranks if rank.rank in numbers]
        text = self.text.lower()
        return [one for one in self.ranks if text in one.name.lower() or text in one.node.lower()]

    def _query(self, phase: str) -> str:
        return urlencode({key: it for key, it in (("phase", phase), ("q", self.text)) if it})
