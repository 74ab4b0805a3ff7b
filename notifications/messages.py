"""What emails and chats say about a notification: the reason, the cause, the last lines and a link.

This reads the workload and its log, so it is made when the message is sent, not in the transaction
of the change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings

from notifications import events
from notifications.models import Notification
from workloads.detail.cause import current_wait, first_failure
from workloads.models import Workload

MOST_LINES = 20
LONGEST_LINE = 300  # characters


@dataclass(frozen=True)
class CauseInWords:
    """Why a workload failed or waits, what to do about it, and the last lines of the rank that
    failed."""

    title: str = ""
    todo: str = ""
    lines: Sequence[str] = ()


@dataclass(frozen=True)
class Message:
    """One notification in words. ``link`` is empty if Trainyard does not know its own address."""

    title: str
    facts: Sequence[tuple[str, str]]
    text: str
    explanation: CauseInWords
    link: str


def message_of(notification: Notification) -> Message:
    """Return what a message says about a notification."""
    workload = notification.workload
    return Message(
        title=notification.title,
        facts=list_facts(
            ("Project", str(notification.project)),
            ("Cluster", str(notification.cluster)),
            ("Reason", notification.reason),
            ("Time", time_in_words(notification.at)),
        ),
        text=notification.text,
        explanation=explain(workload, notification.type) if workload else CauseInWords(),
        link=link_to(notification.target_address),
    )


def list_facts(*facts: tuple[str, str]) -> list[tuple[str, str]]:
    """Return the facts that are known."""
    return [(name, value) for name, value in facts if value]


def explain(workload: Workload, name: str) -> CauseInWords:
    """Return why a workload failed or waits now. Empty if the event does not need a cause, or if
    the workload has since gone on."""
    if name == events.PENDING_LONG:
        causes = list(workload.causes.filter(run=workload.run).order_by("since", "pk"))
        wait = current_wait(workload, causes)
        if wait is None:
            return CauseInWords()
        return CauseInWords(wait.message, wait.cause.todo if wait.cause else "")
    failure = first_failure(workload, workload.ranks.all())
    if failure is None:
        return CauseInWords()
    lines = [line.text[:LONGEST_LINE] for line in failure.lines[-MOST_LINES:]]
    return CauseInWords(failure.title, failure.todo, lines)


def link_to(address: str) -> str:
    """Return the complete address of a page of ours, for people elsewhere."""
    return f"{settings.PUBLIC_URL}{address}" if settings.PUBLIC_URL else ""


def time_in_words(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
