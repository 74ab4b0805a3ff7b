"""Findings of a check of a cluster: what it has, what it lacks, and what to do."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    WARNING = "warning"  # something is missing that only some people need
    ISSUE = "issue"  # something does not work properly
    MISSING = "missing"  # nothing runs without something that is missing
    REFUSED = "refused"  # Trainyard must not use the cluster, and submits nothing to it


#: Areas of findings: connection, permissions, and metering of usage. The finding ``SIGNED_IN``, of
#: the area ``CONNECTION``, has the name of Trainyard's user.
CONNECTION = "Connection"
PERMISSIONS = "Permissions"
METERING = "Metrics"
SIGNED_IN = "Signed in as"

#: What everyone may know about a refused cluster. Only administrators see the finding itself.
EXCLUDED = (
    "takes no workloads now: another Trainyard uses its namespace prefix. Ask an administrator: "
    "the cluster's Connection tab says what to do."
)


@dataclass(frozen=True)
class Finding:
    """A finding: what the cluster has, or what it lacks and what to do."""

    area: str
    name: str
    level: Level
    text: str = ""


def refusal_of(findings: Iterable[Finding]) -> str:
    """Return why Trainyard must not use the cluster, for administrators; empty if it may."""
    return next((finding.text for finding in findings if finding.level is Level.REFUSED), "")
