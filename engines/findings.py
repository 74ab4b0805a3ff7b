"""What is told of a cluster that was looked at: what is there, what lacks, what to do."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    WARNING = "warning"  # something that not everybody needs
    ISSUE = "issue"  # it is there and does not work well
    MISSING = "missing"  # without it nothing runs


#: Areas of findings: whether the cluster is reached, what we may do there, and the use that ranks
#: make of their machines. In the first one the finding ``SIGNED_IN`` says who we are.
CONNECTION, PERMISSIONS, METERING = "Connection", "Permissions", "Metrics"
SIGNED_IN = "Signed in as"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: what was found, or what lacks and what to do."""

    area: str
    name: str
    level: Level
    text: str = ""
