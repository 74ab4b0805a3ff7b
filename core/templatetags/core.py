"""Template tags for navigation, times and durations."""

import json
from datetime import UTC, datetime
from typing import Any

from django import template
from django.conf import settings
from django.forms import BoundField
from django.urls import NoReverseMatch, get_script_prefix, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

# 422 is an invalid form, which is swapped in like a page.
HTMX_CONFIG = {
    "responseHandling": [
        {"code": "204", "swap": False},
        {"code": "[23]..", "swap": True},
        {"code": "422", "swap": True},
        {"code": "[45]..", "swap": False, "error": True},
    ],
    "allowEval": False,
    "includeIndicatorStyles": False,
    "refreshOnHistoryMiss": True,  # the Back button reloads: scripts hold on to a page's elements
    "historyCacheSize": 0,  # live data is fetched again, not restored
    "scrollBehavior": "auto",
}
SLASH = mark_safe("/<wbr>")
UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


@register.simple_tag
def htmx_config() -> SafeString:
    return mark_safe(json.dumps(HTMX_CONFIG))  # noqa: S308 -- a constant of ours


@register.simple_tag
def version() -> str:
    """The version of Trainyard."""
    return str(settings.VERSION)


@register.inclusion_tag("layout/nav_item.html", takes_context=True)
def nav_item(
    context: template.Context,
    route: str,
    label: str,
    icon: str,
    badge: str = "",
    count: int | str = "",
) -> dict[str, Any]:
    """Draw an entry of the navigation. The entry is current on pages whose path or route begins
    like its own, unless the page names its entry in ``nav_route``. ``badge`` is a template that
    draws ``count`` behind the label; without one it fetches it."""
    try:
        address = reverse(route)
    except NoReverseMatch:
        address = ""
    request = context.get("request")
    match = getattr(request, "resolver_match", None)
    url_name = (match.url_name or "") if match else ""
    is_root = address == get_script_prefix()  # every path begins like this one
    is_below = bool(address and request) and context["request"].path.startswith(address)
    entry_of_page = context.get("nav_route")
    if entry_of_page:
        is_current = route == entry_of_page
    else:
        is_current = (is_below and not is_root) or url_name.startswith(route.removesuffix("list"))
    return {
        "address": address,
        "label": label,
        "icon": icon,
        "current": is_current,
        "badge": badge,
        "count": count,
    }


@register.simple_tag
def when(at: datetime | None, how: str = "") -> str:
    """Draw a time in UTC; a script shows it in the reader's time zone (static/js/times.js). ``how``
    may be ``relative``, or ``clock`` for the time of day alone if it is today."""
    if at is None:
        return "–"
    moment = at.astimezone(UTC).isoformat(sep=" ", timespec="seconds")
    extra = f" data-{how}" if how in {"relative", "clock"} else ""
    return format_html(
        '<time datetime="{}" title="{} UTC"{}>{} UTC</time>',
        moment.replace(" ", "T"),
        moment[:19],
        mark_safe(extra),  # noqa: S308 -- one of two words of ours
        moment[:19],
    )


@register.filter
def duration(seconds: float | None) -> str:
    """Seconds in at most two units: ``2 h 5 min``, ``42 s``."""
    if seconds is None:
        return "–"
    left = max(round(seconds), 0)
    parts = []
    for name, size in UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or "0 s"


@register.filter
def breakable(text: str) -> SafeString:
    """The text with an optional line break after each slash."""
    return format_html_join(SLASH, "{}", ((part,) for part in text.split("/")))


@register.simple_tag
def dressed(field: BoundField) -> SafeString:
    """The input of a Django form field, in our style."""
    return field.as_widget(attrs={"class": "form-control"})
