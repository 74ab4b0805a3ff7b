"""Badges of phases: ``{% phase_badge workload.phase %}``, ``{% rank_badge rank.phase %}``."""

from functools import lru_cache

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from spec.phases import IN_MOTION, Phase, RankPhase

register = template.Library()

#: ``static/css/components.css`` gives each tone a colour.
TONES: dict[Phase, str] = {
    Phase.CREATING: "neutral",
    Phase.PENDING: "warning",
    Phase.INITIALIZING: "info",
    Phase.RUNNING: "info",
    Phase.RESUMING: "neutral",
    Phase.DEGRADED: "warning",
    Phase.STOPPING: "neutral",
    Phase.STOPPED: "neutral",
    Phase.COMPLETED: "success",
    Phase.FAILED: "danger",
    Phase.DELETING: "neutral",
    Phase.UNKNOWN: "warning",
}
RANK_TONES: dict[RankPhase, str] = {
    RankPhase.PENDING: "warning",
    RankPhase.RUNNING: "info",
    RankPhase.SUCCEEDED: "success",
    RankPhase.FAILED: "danger",
    RankPhase.STOPPED: "neutral",
}


@register.simple_tag
def phase_badge(phase: str, title: str = "") -> SafeString:
    """Render the phase of a workload in its tone. ``title`` is the tooltip, such as the reason."""
    member = Phase(phase)
    return _badge(str(member), TONES[member], member in IN_MOTION, title)


@register.simple_tag
def rank_badge(phase: str, title: str = "") -> SafeString:
    member = RankPhase(phase)
    return _badge(str(member), RANK_TONES[member], member is RankPhase.RUNNING, title)


@lru_cache(1000)  # each row of a table has a badge, and most badges are the same
def _badge(label: str, tone: str, live: bool, title: str) -> SafeString:
    context = {"label": label, "tone": tone, "dot": True, "live": live, "title": title}
    return render_to_string("components/badge.html", context)
