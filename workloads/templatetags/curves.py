"""Draw small curves of a number over time: ``{% curve points %}``."""

from collections.abc import Iterable, Sequence

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

WIDTH = 64  # pixels
HEIGHT = 18
MARGIN = 1.5  # between the line and the edges
Points = Sequence[Sequence[float]]  # pairs of step and value


@register.simple_tag
def curve(points: Points) -> SafeString | str:
    """Return the curve as SVG, or an empty text for fewer than two points. It is hidden from screen
    readers, because the page shows the last value as text next to it."""
    line_points = polyline_points(points)
    if not line_points:
        return ""
    return format_html(
        '<svg class="curve" width="{0}" height="{1}" viewBox="0 0 {0} {1}" '
        'preserveAspectRatio="none" aria-hidden="true">'
        '<polyline points="{2}"/></svg>',
        WIDTH,
        HEIGHT,
        line_points,
    )


def polyline_points(points: Points) -> str:
    """Return the ``points`` attribute of an SVG polyline, or an empty text for fewer than two
    points."""
    if len(points) < 2:
        return ""
    xs = _scale((step for step, _ in points), WIDTH)
    ys = _scale((-value for _, value in points), HEIGHT)  # SVG counts down from the top
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))


def _scale(values: Iterable[float], length: float) -> list[float]:
    """Scale the values to pixels within ``length``. Equal values are put in the middle."""
    numbers = list(values)
    low = min(numbers)
    span = max(numbers) - low
    if not span:
        return [length / 2] * len(numbers)
    return [MARGIN + (number - low) / span * (length - 2 * MARGIN) for number in numbers]
