"""Small drawings of how a number went: ``{% curve points %}``."""

from collections.abc import Iterable, Sequence

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

# of the drawing, whose line keeps off its edges
WIDTH = 64
HEIGHT = 18
MARGIN = 1.5
Points = Sequence[Sequence[float]]  # of step and value


@register.simple_tag
def curve(points: Points) -> SafeString | str:
    """Nothing where there are too few points. What it shows stands next to it in words."""
    line = polyline(points)
    if not line:
        return ""
    return format_html(
        '<svg class="curve" width="{0}" height="{1}" viewBox="0 0 {0} {1}" '
        'preserveAspectRatio="none" aria-hidden="true">'
        '<polyline points="{2}"/></svg>',
        WIDTH,
        HEIGHT,
        line,
    )


def polyline(points: Points) -> str:
    """As SVG has it; empty where there is no line to draw."""
    if len(points) < 2:
        return ""
    across = _scale((x for x, _ in points), WIDTH)
    down = _scale((-y for _, y in points), HEIGHT)
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))


def _scale(values: Iterable[float], room: float) -> list[float]:
    numbers = list(values)
    low = min(numbers)
    span = max(numbers) - min(numbers)
    if not span:
        return [room / 2] * len(numbers)
    return [MARGIN + (one - low) / span * (room - 2 * MARGIN) for one in numbers]
