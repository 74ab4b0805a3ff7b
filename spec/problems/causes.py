"""Why a gang waits: its main cause, with evidence and the next step."""

from dataclasses import dataclass
from enum import StrEnum

from spec.phases import Reason


class CauseKind(StrEnum):
    """What a workload waits for. A closed list: the history, pages and filters rely on
    these words."""

    CAPACITY = "Capacity"  # suitable nodes are full
    NODES = "Nodes"  # no node is suitable
    QUOTA = "Quota"
    QUEUE = "Queue"
    GANG = "Gang"  # its scheduler places all pods at once, or none
    STORAGE = "Storage"  # a volume does not exist, or not where it is needed
    IMAGE = "Image"
    DATA = "Data"  # a repository or a bucket cannot be fetched
    MISSING = "Missing"  # a Secret or ConfigMap does not exist
    REFUSED = "Refused"  # the cluster refuses to create its pods
    OPERATOR = "Operator"  # nothing creates its pods
    PROGRAM = "Program"  # what a rank runs fails, or cannot be started
    OTHER = "Other"


#: The reason of each kind, for causes that name no reason of their own.
REASONS = {
    CauseKind.CAPACITY: Reason.WAITING_FOR_CAPACITY,
    CauseKind.NODES: Reason.WAITING_FOR_CAPACITY,
    CauseKind.QUOTA: Reason.WAITING_FOR_QUOTA,
    CauseKind.QUEUE: Reason.REFUSED,
    CauseKind.GANG: Reason.WAITING_FOR_CAPACITY,
    CauseKind.STORAGE: Reason.NONE,
    CauseKind.IMAGE: Reason.IMAGE_UNKNOWN,
    CauseKind.DATA: Reason.REFUSED,
    CauseKind.MISSING: Reason.REFUSED,
    CauseKind.REFUSED: Reason.REFUSED,
    CauseKind.OPERATOR: Reason.NONE,
    CauseKind.PROGRAM: Reason.RANK_FAILED,
    CauseKind.OTHER: Reason.NONE,
}


@dataclass(frozen=True)
class Share:
    """A number of nodes and what excludes them."""

    label: str
    nodes: int


@dataclass(frozen=True)
class Cause:
    """A cause. ``said`` quotes the cluster, ``who`` is the rank it is about, if any.

    ``shares`` divide the ``total`` nodes that the scheduler looked at, the largest first.
    """

    kind: CauseKind
    title: str
    todo: str = ""
    said: str = ""
    who: str = ""
    shares: tuple[Share, ...] = ()
    total: int = 0
    precise_reason: Reason | None = None  # replaces the reason of its kind, with NONE as well

    @property
    def reason(self) -> Reason:
        return REASONS[self.kind] if self.precise_reason is None else self.precise_reason

    @property
    def message(self) -> str:
        """One line for people."""
        share = next(iter(self.shares), None)
        of = f" ({share.nodes} of {self.total} nodes)" if share and self.total else ""
        return f"{self.who}: {self.title}{of}" if self.who else f"{self.title}{of}"
