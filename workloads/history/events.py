"""Write events, and tell the pages that show the workload."""

from collections.abc import Callable, Sequence
from functools import partial

from django.db import transaction

from accounts.models import User
from core.broker import stream
from core.broker.enqueue import PERIODIC, send_once
from spec.phases import ENDED, Phase, Reason
from workloads.models import Event, Workload
from workloads.models.choices import EventSource

EVERY_CHANNEL = "project:*"
#: The task that sends notifications of phase changes, which it reads from the events.
NOTIFY = "notifications.deliver"
#: The task that starts the groups of workflows whose turn it is.
ADVANCE = "workflows.advance"


def channel(project_id: int) -> str:
    """Return the channel of a project's live updates. They are grouped by project because
    permissions are."""
    return f"project:{project_id}"


def person_channel(user_id: int) -> str:
    """Return the channel of what concerns one person alone, such as their notices."""
    return f"person:{user_id}"


def announce(workload: Workload) -> None:
    """After the commit, have open pages reload this workload."""
    publish(workload.project_id, f"w-{workload.pk}")


def announce_nothing(workload: Workload) -> None:
    """Do nothing: for callers of :func:`record_phase` that announce several changes at once."""


def announce_output(workload: Workload) -> None:
    """Tell pages that show logs or metrics that there is more."""
    stream.publish(channel(workload.project_id), f"o-{workload.pk}")


def record_submissions(workloads: Sequence[Workload], *, actor: User) -> None:
    """Write the submission events of new workloads, all of one project, and announce them."""
    Event.objects.bulk_create(
        Event(workload=workload, phase=workload.phase, verb="submit", actor=actor)
        for workload in workloads
    )
    send_once(NOTIFY, None, PERIODIC)
    announce_new(workloads)


def announce_new(workloads: Sequence[Workload]) -> None:
    """After the commit, have open tables show these new workloads, all of one project."""
    publish(workloads[0].project_id, *(f"new-{workload.pk}" for workload in workloads))


def publish(project_id: int, *names: str) -> None:
    """After the commit, tell open pages which names changed in a project."""
    transaction.on_commit(partial(stream.publish, channel(project_id), *names))


def record_phase(
    workload: Workload,
    *,
    reason: Reason | None = None,
    message: str | None = None,
    actor: User | None = None,
    verb: str = "",
    announce_by: Callable[[Workload], None] = announce,
) -> None:
    """Write the workload's present phase as an event, and announce it by ``tell``."""
    Event.objects.create(
        workload=workload,
        phase=workload.phase,
        verb=verb,
        reason=Reason(workload.reason) if reason is None else reason,
        message=workload.message if message is None else message,
        actor=actor,
    )
    send_once(NOTIFY, None, PERIODIC)
    if workload.phase in ENDED:
        send_once(ADVANCE, None, PERIODIC)
    announce_by(workload)


def record_phases(workloads: Sequence[Workload], *, actor: User | None, verb: str) -> None:
    """Write the present phase of each workload as an event, in one insert, and announce them."""
    Event.objects.bulk_create(
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
    if workloads:
        send_once(NOTIFY, None, PERIODIC)
    for workload in workloads:
        announce(workload)


def record_action(workload: Workload, message: str, *, actor: User, verb: str) -> None:
    """Write an event about what a person did, without a change of phase."""
    Event.objects.create(workload=workload, message=message, actor=actor, verb=verb)
    announce(workload)


def record_note(
    workload: Workload, message: str, *, source: EventSource, reason: Reason = Reason.NONE
) -> None:
    """Write an event about something that happened, without a change of phase."""
    Event.objects.create(workload=workload, message=message, source=source, reason=reason)
    announce(workload)


def record_once(workload: Workload, message: str, *, reason: Reason, key: str) -> None:
    """Write an event about something that will happen, unless the workload has one with this
    ``key`` already, and send notifications of it."""
    _, is_new = Event.objects.get_or_create(
        workload=workload, key=key, defaults={"message": message, "reason": reason}
    )
    if is_new:
        send_once(NOTIFY, None, PERIODIC)
        announce(workload)


def columns_before_deletion(workload: Workload) -> dict[str, str]:
    """Return the columns that show how a deleted workload had ended. If it had not ended, its
    deletion stopped it."""
    phase_events = workload.events.exclude(phase__in=["", Phase.DELETING]).order_by("-pk")
    last = phase_events.first()
    if last is None or last.phase not in ENDED:
        return {"phase": Phase.STOPPED}
    return {"phase": last.phase, "reason": last.reason, "message": last.message}
