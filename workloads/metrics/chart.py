"""Charts as the pages get them, and what of them a reader wants to see."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from django.http import QueryDict

from core.web.query import parse_decimal
from workloads.metrics.buckets import BandPoint
from workloads.metrics.numbers import Stored, finite_value
from workloads.metrics.series import Axis

MOST_POINTS = 600  # per line
FEWEST_POINTS = 20  # per line, with however many ranks
BAND = "band"
LINES = "lines"
Mark = tuple[float, str]


@dataclass(frozen=True)
class ChartLine:
    """A line of a chart, and perhaps a band around it from ``low`` to ``high``. All lists have
    equal length; ``None`` is a gap. ``number`` decides its color and dashes."""

    label: str
    number: int
    x: list[float]
    y: list[float | None]
    low: list[float | None] = field(default_factory=list)
    high: list[float | None] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        line = {"label": self.label, "number": self.number, "x": self.x, "y": self.y}
        return line | ({"low": self.low, "high": self.high} if self.low else {})


@dataclass(frozen=True)
class Chart:
    """A chart of the metrics ``names``. ``marks`` are x values where a number is not finite, with
    what it is. Lines that are ``dashed`` do not differ by color alone."""

    name: str
    label: str
    x: Axis
    names: list[str]
    lines: list[ChartLine]
    marks: list[Mark] = field(default_factory=list)
    dashed: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "label": self.label,
            "x": self.x,
            "names": self.names,
            "lines": [line.as_json() for line in self.lines],
            "marks": self.marks,
            "dashed": self.dashed,
        }


@dataclass(frozen=True)
class ChartView:
    """What a reader chose: the axis, the range of it that is in view, and how several ranks are
    drawn (``band``, ``lines``, or empty for what suits)."""

    axis: Axis = Axis.STEP
    low: float | None = None
    high: float | None = None
    ranks: str = ""

    @classmethod
    def from_query(cls, query: QueryDict) -> "ChartView":
        chosen = query.get("x", "")
        ranks = query.get("ranks", "")
        return cls(
            axis=Axis(chosen) if chosen in set(Axis) else Axis.STEP,
            low=parse_decimal(query.get("from", "")),
            high=parse_decimal(query.get("to", "")),
            ranks=ranks if ranks in {BAND, LINES} else "",
        )

    def of_times(self) -> "ChartView":
        """The view of usage, which has no steps: a range of steps says nothing about it."""
        if self.axis is Axis.STEP:
            return replace(self, axis=Axis.CLOCK, low=None, high=None)
        return self

    def contains(self, place: float) -> bool:
        return (self.low is None or place >= self.low) and (self.high is None or place <= self.high)


def band_point(place: float, values: Iterable[Stored]) -> BandPoint:
    """Return the median of the values at a place, with the lowest and the highest."""
    finite = [number for value in values if (number := finite_value(value)) is not None]
    if not finite:
        return place, None, None, None
    return place, median(finite), min(finite), max(finite)


def band_line(points: Sequence[BandPoint]) -> ChartLine:
    """Return a line without a label, in a band."""
    return ChartLine(
        "",
        0,
        x=[place for place, _, _, _ in points],
        y=[middle for _, middle, _, _ in points],
        low=[low for _, _, low, _ in points],
        high=[high for _, _, _, high in points],
    )
