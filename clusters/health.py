"""A cluster's state, which is one of Run:ai's, and a sentence on what to do about it. It comes from
checks, which anyone can request here."""

from collections.abc import Iterable

from clusters.models import Cluster, State
from core.broker import enqueue
from engines.base import EngineUnavailable
from engines.findings import EXCLUDED, Finding, Level, refusal_of

HELP = "The Connection tab of the cluster shows administrators what to apply."
MOST_NAMED = 3  # findings in one message; the page lists them all


def request_check(cluster: Cluster) -> None:
    """Have a worker check the cluster after the commit, before the monitor's next turn.

    If the message is lost, the cluster is checked at that turn.
    """
    enqueue.send("clusters.look", cluster.pk, enqueue.SUBMIT)


def state_of(findings: Iterable[Finding]) -> tuple[State, str]:
    """The state of a cluster that answered. A refusal outweighs missing prerequisites, and
    these other issues."""
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
    """The state of a cluster that did not answer. It will be asked again automatically."""
    advice = "Running workloads are not affected. Trainyard keeps trying."
    return State.DISCONNECTED, f"{error} {advice}"


def _sentence(findings: list[Finding]) -> str:
    named = [f"{finding.name}: {finding.text}" for finding in findings[:MOST_NAMED]]
    rest = len(findings) - len(named)
    return " ".join([*named, f"And {rest} more." if rest > 0 else ""]).strip()
