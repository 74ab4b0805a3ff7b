"""Which of Run:ai's states a cluster is in, and the sentence that says what to do about it."""

from collections.abc import Iterable

from clusters.models import State
from engines.base import EngineUnavailable, Finding, Level

HELP = "An administrator finds what to apply on the cluster's page, under Connection."
NAMED = 3  # findings in one message; the page lists them all


def verdict(findings: Iterable[Finding]) -> tuple[State, str]:
    """Of a cluster that answered. What lacks outweighs what does not work well."""
    found = list(findings)
    missing = [finding for finding in found if finding.level is Level.MISSING]
    issues = [finding for finding in found if finding.level is Level.ISSUE]
    if missing:
        return State.MISSING, f"{_sentence(missing)} {HELP}"
    if issues:
        return State.ISSUES, _sentence(issues)
    return State.CONNECTED, ""


def away(error: EngineUnavailable) -> tuple[State, str]:
    """Of a cluster that did not answer. It is asked again by itself."""
    advice = "What runs there runs on. Trainyard asks again every few seconds."
    return State.DISCONNECTED, f"{error} {advice}"


def _sentence(findings: list[Finding]) -> str:
    named = [f"{finding.name}: {finding.text}" for finding in findings[:NAMED]]
    rest = len(findings) - len(named)
    return " ".join([*named, f"And {rest} more." if rest > 0 else ""]).strip()
