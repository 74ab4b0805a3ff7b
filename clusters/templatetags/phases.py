"""Badges of phases: ``{% phase_badge workload.phase %}``, ``{% rank_badge rank.phase %}``."""

from functools import lru_cache

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from spec.phases import Phase, RankPhase
from spec.tones import LIVE, RANK_TONES, TONES

register = template.Library()


@register.simple_tag
def phase_badge(phase: str, title: str = "") -> SafeString:
    """The phase of a workload in its tone; ``title`` is its tooltip, such as the reason."""
    known = Phase(phase)
    return _badge(str(known), TONES[known], known in LIVE, title)


@register.simple_tag
def rank_badge(phase: str, title: str = "") -> SafeString:
    known = RankPhase(phase)
    return _badge(str(known), RANK_TONES[known], known is RankPhase.RUNNING, title)


@lru_cache(1000)  # tables have one in each row, and they are mostly the same
def _badge(label: str, tone: str, live: bool, title: str) -> SafeString:
    context = {"label": label, "tone": tone, "dot": True, "live": live, "title": title}
    return render_to_string("components/badge.html", context)
