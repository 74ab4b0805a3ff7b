"""Badges of phases: ``{% phase_badge workload.phase %}``, ``{% rank_badge rank.phase %}``."""

from typing import Any

from django import template

from spec.phases import Phase, RankPhase
from spec.tones import LIVE, RANK_TONES, TONES

register = template.Library()


@register.inclusion_tag("components/badge.html")
def phase_badge(phase: str, title: str = "") -> dict[str, Any]:
    """The phase of a workload in its tone; ``title`` is its tooltip, such as the reason."""
    known = Phase(phase)
    return {
        "label": known,
        "tone": TONES[known],
        "dot": True,
        "live": known in LIVE,
        "title": title,
    }


@register.inclusion_tag("components/badge.html")
def rank_badge(phase: str, title: str = "") -> dict[str, Any]:
    known = RankPhase(phase)
    live = known is RankPhase.RUNNING
    return {"label": known, "tone": RANK_TONES[known], "dot": True, "live": live, "title": title}
