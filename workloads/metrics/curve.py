"""The course of a few metrics, stored compactly enough for a row of the table."""

from collections.abc import Sequence

from workloads.models import Sample

CURVE_NAMES = ("loss", "accuracy", "samples_per_second")
MOST_POINTS = 40  # points per curve
Points = Sequence[Sequence[float]]  # of pairs of step and value
Curves = dict[str, list[list[float]]]


def extend_curves(curves: Curves, samples: Sequence[Sample]) -> Curves:
    """Curves continued with later samples. If several ranks report the same training, the lowest
    counts."""
    lowest = min((sample.rank for sample in samples), default=0)
    own = [sample for sample in samples if sample.rank == lowest]
    longer = {name: list(points) for name, points in curves.items()}
    for name in CURVE_NAMES:
        new = [[one.step, one.values[name]] for one in own if name in one.values]
        if new:
            stride = -(-len(new) // MOST_POINTS)
            longer[name] = join_points(longer.get(name, []), new[::-1][::stride][::-1])
    return longer


def join_points(old: Points, new: Points) -> list[list[float]]:
    """Join points, thinned to the limit. A repeated step, after a restart, replaces all points from
    it on."""
    points: list[list[float]] = [list(point) for point in old]
    for point in new:
        while points and points[-1][0] >= point[0]:
            points.pop()
        points.append(list(point))
        if len(points) > MOST_POINTS:
            gaps = [after[0] - before[0] for before, after in zip(points, points[2:], strict=False)]
            points.pop(1 + gaps.index(min(gaps)))
    return points
