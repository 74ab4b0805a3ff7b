"""Small drawings of how a number went: ``{% curve points %}``."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from workloads.metrics.curve import HEIGHT, WIDTH, Points, polyline

register = template.Library()


@register.simple_tag
def curve(points: Points) -> SafeString | str:
    """Nothing where there are too few points. What it shows stands next to it in words."""
    line = polyline(points)
    if not line:
        return ""
    return format_html(
        '<svg class="curve" width="{0}" height="{1}" viewBox="0 0 {0} {1}" aria-hidden="true">'
        '<polyline points="{2}"/></svg>',
        WIDTH,
        HEIGHT,
        line,
    )
