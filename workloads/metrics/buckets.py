"""Thin out points so that what stands out stays.

Buckets are as wide as a power of two and begin at its multiples, so they do not move while points
are added: the same points are chosen again, until all buckets become twice as wide.
"""

from collections.abc import Sequence
from itertools import groupby

Point = tuple[float, float | None]  # x and y; None if y is not finite
#: x, then the middle, the low and the high end; None where no value is finite.
BandPoint = tuple[float, float | None, float | None, float | None]


def bucket_width(first: float, last: float, most: int) -> int:
    """Return the smallest power of two that divides a range into at most ``most`` buckets."""
    width = 1
    while last // width - first // width >= most:
        width *= 2
    return width


def thin_points(points: Sequence[Point], most: int) -> list[Point]:
    """Return at most ``most`` of the points, which are sorted by x.

    Of each bucket the lowest, the highest, the last and the last that is not finite are chosen.
    """
    thinned = list(points)
    width = bucket_width(points[0][0], points[-1][0], most) if points else 1
    while len(thinned) > most:
        thinned = []
        for _, group in groupby(points, key=lambda point: point[0] // width):
            bucket = list(group)
            chosen = outstanding([value for _, value in bucket])
            thinned += [bucket[index] for index in sorted(chosen)]
        width *= 2
    return thinned


def outstanding(values: Sequence[float | None]) -> set[int]:
    """Return the indexes of the lowest, the highest, the last and the last not finite value."""
    chosen = {len(values) - 1}
    finite = [index for index, value in enumerate(values) if value is not None]
    if finite:
        chosen.add(min(finite, key=lambda index: values[index] or 0.0))
        chosen.add(max(finite, key=lambda index: values[index] or 0.0))
    if len(finite) < len(values):
        chosen.add(max(index for index, value in enumerate(values) if value is None))
    return chosen


def thin_bands(points: Sequence[BandPoint], most: int) -> list[BandPoint]:
    """Return at most ``most`` points, which are sorted by x: of each bucket its last middle, the
    lowest of its low ends and the highest of its high ends."""
    thinned = list(points)
    width = bucket_width(points[0][0], points[-1][0], most) if points else 1
    while len(thinned) > most:
        groups = groupby(points, key=lambda point: point[0] // width)
        thinned = [_join_bands(list(group)) for _, group in groups]
        width *= 2
    return thinned


def _join_bands(bucket: Sequence[BandPoint]) -> BandPoint:
    lows = [low for _, _, low, _ in bucket if low is not None]
    highs = [high for _, _, _, high in bucket if high is not None]
    x, middle, _, _ = bucket[-1]
    return x, middle, min(lows, default=None), max(highs, default=None)
