"""The statuses of groups and workflows: those of OSMO's words that can happen here."""

from collections.abc import Iterable
from enum import StrEnum

from spec.phases import WAITING, Phase, Reason


class Status(StrEnum):
    """The status of a workflow or of one of its groups. Only groups wait, are scheduled or fail
    because of another group; only workflows are pending."""

    PENDING = "PENDING"
    WAITING = "WAITING"
    SCHEDULING = "SCHEDULING"
    INITIALIZING = "INITIALIZING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELED = "FAILED_CANCELED"
    SUBMISSION = "FAILED_SUBMISSION"
    BACKEND_ERROR = "FAILED_BACKEND_ERROR"
    EXEC_TIMEOUT = "FAILED_EXEC_TIMEOUT"
    QUEUE_TIMEOUT = "FAILED_QUEUE_TIMEOUT"
    IMAGE_PULL = "FAILED_IMAGE_PULL"
    UPSTREAM = "FAILED_UPSTREAM"
    EVICTED = "FAILED_EVICTED"
    PREEMPTED = "FAILED_PREEMPTED"
    START_ERROR = "FAILED_START_ERROR"

    @property
    def label(self) -> str:
        """The status in words: ``Failed: image pull``."""
        head, _, detail = self.value.partition("_")
        words = detail.replace("_", " ").lower()
        return f"{head.capitalize()}: {words}" if words else head.capitalize()

    @property
    def is_moving(self) -> bool:
        """Whether the dot of its badge pulses."""
        return self in {Status.INITIALIZING, Status.RUNNING}

    @property
    def tone(self) -> str:
        """The tone of its badge."""
        if self is Status.COMPLETED:
            return "success"
        if self is Status.CANCELED:
            return "neutral"
        if self in FAILURES:
            return "danger"
        return "info" if self is Status.RUNNING else "neutral"


#: Statuses of a workflow or group that has not ended.
UNFINISHED = frozenset(
    {Status.PENDING, Status.WAITING, Status.SCHEDULING, Status.INITIALIZING, Status.RUNNING}
)
FAILURES = frozenset(Status) - UNFINISHED - {Status.COMPLETED}
#: The statuses that a workflow can have, in OSMO's order.
OF_WORKFLOWS = tuple(
    status
    for status in Status
    if status not in {Status.WAITING, Status.SCHEDULING, Status.INITIALIZING, Status.UPSTREAM}
)
#: A workflow in which several groups failed has the first of these that one of them has.
MOST_TELLING = (Status.CANCELED, Status.EXEC_TIMEOUT, Status.QUEUE_TIMEOUT)
#: The status of a group whose workload is in this phase and has not ended.
OF_PHASES: dict[str, Status] = {
    **dict.fromkeys(WAITING, Status.SCHEDULING),
    Phase.INITIALIZING: Status.INITIALIZING,
    Phase.RUNNING: Status.RUNNING,
    Phase.DEGRADED: Status.RUNNING,
}
#: The status of a group whose workload failed for this reason. Other reasons are plain failures.
OF_REASONS = {
    Reason.PREEMPTED: Status.PREEMPTED,
    Reason.IMAGE_UNKNOWN: Status.IMAGE_PULL,
    Reason.OUT_OF_MEMORY: Status.EVICTED,
    Reason.COMMAND_NOT_FOUND: Status.START_ERROR,
    Reason.DEADLINE_EXCEEDED: Status.EXEC_TIMEOUT,
    Reason.REFUSED: Status.BACKEND_ERROR,
    Reason.LOST: Status.BACKEND_ERROR,
}


def workflow_status(groups: Iterable[str]) -> Status:
    """Return the status of a workflow whose groups have these."""
    statuses = {Status(status) for status in groups}
    if statuses & UNFINISHED:
        has_begun = statuses - {Status.WAITING, Status.SCHEDULING, Status.INITIALIZING}
        return Status.RUNNING if has_begun else Status.PENDING
    causes = statuses & FAILURES - {Status.UPSTREAM}
    for status in MOST_TELLING:
        if status in causes:
            return status
    if len(causes) == 1:
        return next(iter(causes))
    return Status.FAILED if causes else Status.COMPLETED
