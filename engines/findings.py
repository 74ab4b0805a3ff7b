"""Findings of a check of a cluster: what is there, what is missing, and what to do."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    WARNING = "warning"  # something is missing that not everybody needs
    ISSUE = "issue"  # something does not work properly
    MISSING = "missing"  # something is missing without which nothing runs
    REFUSED = "refused"  # Trainyard must not use the cluster, and submits nothing to it


#: Areas of findings: connection, permissions, and metering of usage. The finding ``SIGNED_IN`` in
#: the first one is our user name.
CONNECTION = "Connection"
PERMISSIONS = "Permissions"
METERING = "Metrics"
SIGNED_IN = "Signed in as"

#: What everyone may know of a refused cluster; the finding itself is for administrators.
EXCLUDED = (
    "takes no workloads now: another Trainyard uses its namespace prefix. Ask an administrator: "
    "the cluster's Connection tab says what to do."
)


@dataclass(frozen=True)
class Finding:
    """A finding: what is there, or what is missing and what to do."""

    area: str
    name: str
    level: Level
    text: str = ""


def refusal_of(findings: Iterable[Finding]) -> str:
    """Why Trainyard must not use the cluster, in words for administrators; empty if it may."""
    return next((finding.text for finding in findings if finding.level is Level.REFUSED), "")
