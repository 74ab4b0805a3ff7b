"""Failing probes: programs that run but are not ready, or were ended by their node. Pure."""

import re
from collections.abc import Iterable
from datetime import datetime

from engines.base import Manifest
from engines.kubernetes.status.conditions import parse_time
from engines.kubernetes.status.events import event_time
from spec.phases import Reason
from spec.problems.causes import Cause, CauseKind

UNHEALTHY = "Unhealthy"
PROBE = re.compile(r"^(Readiness|Liveness|Startup) probe (?:failed|errored)")
TODO = {
    "Readiness": "The program is running, and is ready once this probe succeeds. Check the "
    "probe's port and path, and the rank's log; or leave the probe out.",
    "Startup": "The program is running, and is restarted if this probe does not succeed in time. "
    "Check the probe's port, path and failure threshold, and the rank's log.",
    "Liveness": "The node ends the program whenever this probe fails too often. Check the "
    "probe's port, path and failure threshold, and the rank's log.",
}


def unready_cause(warnings: Iterable[Manifest], *, since: datetime | None) -> Cause | None:
    """Why a program that has run ``since`` a time is not ready, by its last failed probe."""
    if since is None:
        return None
    for one in reversed(list(warnings)):
        probe = _probe(one)
        if probe and event_time(one) >= since:
            return Cause(
                CauseKind.PROGRAM,
                f"The program is running, but its {probe.lower()} probe fails",
                TODO[probe],
                said=str(one["message"]),
                precise_reason=Reason.NONE,
            )
    return None


def ending_probe(warnings: Iterable[Manifest], ended: Manifest) -> str:
    """The probe for which the node ended the program, in lower case; empty if none."""
    start = ended.get("startedAt")
    end = ended.get("finishedAt")
    if not start or not end or not ended.get("exitCode"):
        return ""
    for one in warnings:
        probe = _probe(one)
        first = parse_time(one.get("firstTimestamp") or event_time(one).isoformat())
        if (
            probe in {"Liveness", "Startup"}
            and first <= parse_time(end)
            and event_time(one) >= parse_time(start)
        ):
            return probe.lower()
    return ""


def _probe(event: Manifest) -> str:
    if event["reason"] != UNHEALTHY:
        return ""
    match = PROBE.match(str(event.get("message", "")))
    return match[1] if match else ""
