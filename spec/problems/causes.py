"""Why a gang waits: one dominant cause, with its evidence and the next step."""

from dataclasses import dataclass
from enum import StrEnum

from spec.phases import Reason


class CauseKind(StrEnum):
    """What it waits for. Closed: the history of causes, pages and filters rely on these words."""

    CAPACITY = "Capacity"  # nodes that would do are full
    NODES = "Nodes"  # no node matches what it asks for
    QUOTA = "Quota"
    QUEUE = "Queue"
    GANG = "Gang"  # its scheduler places all pods at once, or none
    STORAGE = "Storage"  # a volume cannot be had, or not where it is needed
    IMAGE = "Image"
    DATA = "Data"  # a repository or a bucket cannot be fetched
    MISSING = "Missing"  # a Secret or ConfigMap is not there
    REFUSED = "Refused"  # the cluster does not make its pods
    OPERATOR = "Operator"  # nobody makes its pods
    PROGRAM = "Program"  # what a rank runs fails, or cannot be started
    OTHER = "Other"


REASONS = {
    CauseKind.QUOTA: Reason.WAITING_FOR_QUOTA,
    CauseKind.IMAGE: Reason.IMAGE_UNKNOWN,
    CauseKind.MISSING: Reason.REFUSED,
    CauseKind.DATA: Reason.REFUSED,
    CauseKind.REFUSED: Reason.REFUSED,
    CauseKind.QUEUE: Reason.REFUSED,
    CauseKind.PROGRAM: Reason.RANK_FAILED,
    CauseKind.OPERATOR: Reason.NONE,
}


@dataclass(frozen=True)
class Share:
    """So many of the cluster's nodes, and what rules them out."""

    label: str
    nodes: int


@dataclass(frozen=True)
class Cause:
    """``said`` is the cluster's own words, ``who`` the rank it says them of, if any.

    ``shares`` tell of ``total`` nodes that a scheduler looked at, the dominant share first.
    """

    kind: CauseKind
    title: str
    todo: str = ""
    said: str = ""
    who: str = ""
    shares: tuple[Share, ...] = ()
    total: int = 0
    own_reason: Reason = Reason.NONE  # where that of its kind says less

    @property
    def reason(self) -> Reason:
        return self.own_reason or REASONS.get(self.kind, Reason.WAITING_FOR_CAPACITY)

    @property
    def message(self) -> str:
        """One line for people."""
        share = next(iter(self.shares), None)
        of = f" ({share.nodes} of {self.total} nodes)" if share and self.total else ""
        return f"{self.who}: {self.title}{of}" if self.who else f"{self.title}{of}"
