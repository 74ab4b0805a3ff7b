"""Derive the state of a cluster, which is one of Run:ai's, and a sentence on what to do about it
from its checks; and request checks."""

from collections.abc import Iterable
from datetime import timedelta

from django.utils import timezone

from clusters.models import Cluster, State
from core.broker import enqueue
from engines.base import EngineUnavailable
from engines.findings import EXCLUDED, Finding, Level, refusal_of

HELP = "The Connection tab of the cluster shows administrators what to apply."
MOST_NAMED = 3  # findings in one message; the page lists them all
RECENT = timedelta(seconds=5)  # since a check, whose results are then taken for the present ones


def request_check(cluster: Cluster) -> None:
    """Have a worker check the cluster after the commit, before the next turn of the monitor.

    If the message is lost, the monitor checks the cluster at that turn.
    """
    enqueue.send("clusters.look", cluster.pk, enqueue.SUBMIT)


def request_check_if_old(cluster: Cluster) -> None:
    """Have a worker check the cluster, unless it was just checked: what a submission lacked may
    have been created since."""
    if cluster.checked_at is None or timezone.now() - cluster.checked_at > RECENT:
        request_check(cluster)


def state_of(findings: Iterable[Finding]) -> tuple[State, str]:
    """Return the state of a cluster that answered, and a message. A refusal takes precedence over
    missing prerequisites, and these over other issues."""
    findings = list(findings)
    if refusal_of(findings):
        return State.MISSING, f"It {EXCLUDED}"
    missing = [finding for finding in findings if finding.level is Level.MISSING]
    issues = [finding for finding in findings if finding.level is Level.ISSUE]
    if missing:
        return State.MISSING, f"{_sentence(missing)} {HELP}"
    if issues:
        return State.ISSUES, _sentence(issues)
    return State.CONNECTED, ""


def disconnected(error: EngineUnavailable) -> tuple[State, str]:
    """Return the state of a cluster that did not answer, and a message."""
    advice = "Running workloads are not affected. Trainyard keeps trying."
    return State.DISCONNECTED, f"{error} {advice}"


def _sentence(findings: list[Finding]) -> str:
    sentences = [f"{finding.name}: {finding.text}" for finding in findings[:MOST_NAMED]]
    rest = len(findings) - len(sentences)
    if rest > 0:
        sentences.append(f"And {rest} more.")
    return " ".join(sentences).strip()
