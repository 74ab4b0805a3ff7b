"""The course of a few numbers of a training, kept so small that a row of the table draws it."""

from collections.abc import Iterable, Sequence

from workloads.models import Sample

NAMES = ("loss", "accuracy", "samples_per_second")
MOST = 40  # points of one
WIDTH, HEIGHT = 64, 18  # of the drawing, whose line keeps off its edges
MARGIN = 1.5
Points = Sequence[Sequence[float]]  # of step and value
Curves = dict[str, list[list[float]]]


def continued(curves: Curves, samples: Sequence[Sample]) -> Curves:
    """With later samples. Several ranks may report the same training: the lowest one speaks for
    all."""
    lowest = min((sample.rank for sample in samples), default=0)
    own = [sample for sample in samples if sample.rank == lowest]
    longer = {name: list(points) for name, points in curves.items()}
    for name in NAMES:
        new = [[one.step, one.values[name]] for one in own if name in one.values]
        if new:
            stride = -(-len(new) // MOST)
            longer[name] = joined(longer.get(name, []), new[::-1][::stride][::-1])
    return longer


def joined(old: Points, new: Points) -> list[list[float]]:
    """Points as far from each other as room for them allows. A step that is done again, after a
    restart, takes the place of all from it on."""
    points: list[list[float]] = [list(point) for point in old]
    for point in new:
        while points and points[-1][0] >= point[0]:
            points.pop()
        points.append(list(point))
        if len(points) > MOST:
            gaps = [after[0] - before[0] for before, after in zip(points, points[2:], strict=False)]
            points.pop(1 + gaps.index(min(gaps)))
    return points


def polyline(points: Points) -> str:
    """As SVG has it; empty where there is no line to draw."""
    if len(points) < 2:
        return ""
    across = _scale((x for x, _ in points), WIDTH)
    down = _scale((-y for _, y in points), HEIGHT)
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))


def _scale(values: Iterable[float], room: float) -> list[float]:
    numbers = list(values)
    low, span = min(numbers), max(numbers) - min(numbers)
    if not span:
        return [room / 2] * len(numbers)
    return [MARGIN + (one - low) / span * (room - 2 * MARGIN) for one in numbers]
