"""Write events, and tell the pages that show the workload."""

from collections.abc import Callable, Sequence

from django.db import transaction

from accounts.models import User
from core.broker import stream
from core.broker.enqueue import PERIODIC, Look, send_once, tell
from core.broker.stream import News
from core.database.inserts import insert, insert_values
from spec.phases import ENDED, Phase, Reason
from workloads.models import Event, Workload
from workloads.models.choices import EventSource

EVERY_CHANNEL = "project:*"
#: The task that sends notifications of phase changes, which it reads from the events.
NOTIFY = "notifications.deliver"
TO_NOTIFY = Look(NOTIFY, None, PERIODIC)


def channel(project_id: int) -> str:
    """The channel of a project's live updates. They are grouped by project because
    permissions are."""
    return f"project:{project_id}"


def announce(workload: Workload) -> None:
    """After the commit, have open pages reload this workload."""
    name, where = f"w-{workload.pk}", channel(workload.project_id)
    transaction.on_commit(lambda: stream.publish(where, name))


def nobody_yet(workload: Workload) -> None:
    """Announce nothing, for callers that announce several changes at once."""


def announce_output(workload: Workload) -> None:
    """Tell pages that show logs or metrics that there is more."""
    stream.publish(channel(workload.project_id), f"o-{workload.pk}")


def submitted(workloads: Sequence[Workload], *, actor: User) -> None:
    """Write the submission events of new workloads. The caller announces them with
    :func:`news_of`."""
    insert_values(
        Event,
        (
            {"workload_id": it.pk, "phase": it.phase, "verb": "submit", "actor_id": actor.pk}
            for it in workloads
        ),
    )


def news_of(workloads: Sequence[Workload]) -> News:
    """News for open tables about new workloads, all of one project."""
    return News(channel(workloads[0].project_id), [f"new-{it.pk}" for it in workloads])


def phase(
    workload: Workload,
    *,
    reason: Reason | None = None,
    message: str | None = None,
    actor: User | None = None,
    verb: str = "",
    tell: Callable[[Workload], None] = announce,
) -> None:
    """Write the workload's present phase as an event, and announce it by ``tell``."""
    event = Event(
        workload=workload,
        phase=workload.phase,
        verb=verb,
        reason=Reason(workload.reason) if reason is None else reason,
        message=workload.message if message is None else message,
        actor=actor,
    )
    insert([event])
    send_once(NOTIFY, None, PERIODIC)
    tell(workload)


def phases(workloads: Sequence[Workload], *, actor: User | None, verb: str) -> None:
    """The same for many workloads: one insert, and one message for each project's pages."""
    insert(
        Event(
            workload=it,
            phase=it.phase,
            verb=verb,
            reason=Reason(it.reason),
            message=it.message,
            actor=actor,
        )
        for it in workloads
    )
    projects: dict[int, list[str]] = {}
    for it in workloads:
        projects.setdefault(it.project_id, []).append(f"w-{it.pk}")
    for project, names in projects.items():
        tell(News(channel(project), names), TO_NOTIFY)


def act(workload: Workload, message: str, *, actor: User, verb: str) -> None:
    """Write an event about what a person did, without a change of phase."""
    insert([Event(workload=workload, message=message, actor=actor, verb=verb)])
    announce(workload)


def note(
    workload: Workload, message: str, *, source: EventSource, reason: Reason = Reason.NONE
) -> None:
    """Write an event about something that happened, without a change of phase."""
    insert([Event(workload=workload, message=message, source=source, reason=reason)])
    announce(workload)


def end_before_deletion(workload: Workload) -> dict[str, str]:
    """The columns that show how a deleted workload had ended. One that had not ended was stopped by
    its deletion."""
    phases = workload.events.exclude(phase__in=["", Phase.DELETING]).order_by("-pk")
    last = phases.first()
    if last is None or last.phase not in ENDED:
        return {"phase": Phase.STOPPED}
    return {"phase": last.phase, "reason": last.reason, "message": last.message}
