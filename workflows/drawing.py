"""Where the groups of a workflow stand in its picture. Pure.

Groups that wait for none are in the first column, and each other one is to the right of all that it
waits for. Within a column, a group is near those that it waits for.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH = 208  # of a box, in pixels like everything here
HEIGHT = 60
COLUMN_GAP = 56
ROW_GAP = 18
MARGIN = 4  # around the picture, for the outline of a box that has the focus


@dataclass(frozen=True)
class Box:
    """A group. ``x`` and ``y`` are its upper left corner."""

    name: str
    x: int
    y: int


@dataclass(frozen=True)
class Arrow:
    """A line from a group to one that waits for it, as the data of an SVG path."""

    start: str
    end: str
    path: str


@dataclass(frozen=True)
class Drawing:
    width: int
    height: int
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def draw(upstream: Mapping[str, Sequence[str]]) -> Drawing:
    """Draw groups, each with those that it waits for, which come before it."""
    columns = _columns(upstream)
    tallest = max((len(names) for names in columns), default=0)
    height = max(tallest * (HEIGHT + ROW_GAP) - ROW_GAP, 0)
    boxes = {
        box.name: box
        for number, names in enumerate(columns)
        for box in _boxes(number, names, height)
    }
    arrows = [
        _arrow(boxes[start], boxes[end]) for end, starts in upstream.items() for start in starts
    ]
    width = max(len(columns) * (WIDTH + COLUMN_GAP) - COLUMN_GAP, 0)
    return Drawing(
        width + 2 * MARGIN,
        height + 2 * MARGIN,
        tuple(boxes[name] for name in upstream),
        tuple(arrows),
    )


def _columns(upstream: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the names in each column, from top to bottom."""
    depths: dict[str, int] = {}
    columns: defaultdict[int, list[str]] = defaultdict(list)
    for name, starts in upstream.items():
        depths[name] = 1 + max((depths[start] for start in starts), default=-1)
        columns[depths[name]].append(name)
    rows: dict[str, float] = {}
    for number in sorted(columns):
        # Stable, so that groups with the same neighbors keep the order of the file.
        columns[number].sort(key=lambda name: _mean([rows[start] for start in upstream[name]]))
        rows |= {name: row for row, name in enumerate(columns[number])}
    return [columns[number] for number in sorted(columns)]


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0


def _boxes(column: int, names: Sequence[str], height: int) -> list[Box]:
    """Return the boxes of a column, in the middle of the height."""
    own_height = len(names) * (HEIGHT + ROW_GAP) - ROW_GAP
    top = MARGIN + (height - own_height) // 2
    x = MARGIN + column * (WIDTH + COLUMN_GAP)
    return [Box(name, x, top + row * (HEIGHT + ROW_GAP)) for row, name in enumerate(names)]


def _arrow(start: Box, end: Box) -> Arrow:
    x1 = start.x + WIDTH
    y1 = start.y + HEIGHT // 2
    x2 = end.x
    y2 = end.y + HEIGHT // 2
    middle = x2 - COLUMN_GAP // 2
    path = f"M{x1} {y1}H{middle - COLUMN_GAP // 2}C{middle} {y1} {middle} {y2} {x2} {y2}"
    return Arrow(start.name, end.name, path)
