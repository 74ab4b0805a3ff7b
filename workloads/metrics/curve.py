"""The course of a few metrics, stored compactly enough for a row of the table."""

from collections.abc import Sequence

from workloads.metrics.numbers import finite_value
from workloads.models import Sample

CURVE_NAMES = ("loss", "accuracy", "samples_per_second")
MOST_POINTS = 40  # points per curve
Points = Sequence[Sequence[float]]  # of pairs of step and value
Curves = dict[str, list[list[float]]]


def extend_curves(curves: Curves, samples: Sequence[Sample]) -> Curves:
    """Return the curves, continued with later samples. If several ranks report the same training,
    the lowest rank counts."""
    lowest = min((sample.rank for sample in samples), default=0)
    of_lowest = [sample for sample in samples if sample.rank == lowest]
    longer = {name: list(points) for name, points in curves.items()}
    for name in CURVE_NAMES:
        pairs = ((sample.step, finite_value(sample.values.get(name))) for sample in of_lowest)
        new = [[step or 0.0, value] for step, value in pairs if value is not None]
        if new:
            stride = -(-len(new) // MOST_POINTS)
            thinned = new[::-1][::stride][::-1]  # from the end, so that the newest point stays
            longer[name] = join_points(longer.get(name, []), thinned)
    return longer


def join_points(old: Points, new: Points) -> list[list[float]]:
    """Return the old points followed by the new ones, thinned to the limit. If a restart repeats a
    step, the points from that step on are replaced."""
    points: list[list[float]] = [list(point) for point in old]
    for point in new:
        while points and points[-1][0] >= point[0]:
            points.pop()
        points.append(list(point))
        if len(points) > MOST_POINTS:
            gaps = [after[0] - before[0] for before, after in zip(points, points[2:], strict=False)]
            points.pop(1 + gaps.index(min(gaps)))
    return points
