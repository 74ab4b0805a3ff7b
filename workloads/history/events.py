"""Writing an event down, and telling the pages that look at the workload."""

from collections.abc import Callable, Sequence

from django.db import transaction

from accounts.models import User
from core.broker import stream
from core.broker.enqueue import PERIODIC, Look, send_once
from core.broker.stream import News
from core.database.inserts import insert, insert_values
from spec.phases import ENDED, Phase, Reason
from workloads.models import Event, Workload

EVERY_CHANNEL = "project:*"
#: The task that tells others of changes of phase; it reads them from the events.
NOTIFY = "notifications.deliver"
TO_NOTIFY = Look(NOTIFY, None, PERIODIC)


def channel(project_id: int) -> str:
    """Live updates travel by project, because that is what a person may or may not see."""
    return f"project:{project_id}"


def announce(workload: Workload) -> None:
    """After the commit, tell open pages to fetch this workload again."""
    name, where = f"w-{workload.pk}", channel(workload.project_id)
    transaction.on_commit(lambda: stream.publish(where, name))


def nobody_yet(workload: Workload) -> None:
    """For whoever tells it with the rest that changes."""


def announce_output(workload: Workload) -> None:
    """Tell pages that follow logs and metrics that there is more."""
    stream.publish(channel(workload.project_id), f"o-{workload.pk}")


def submitted(workloads: Sequence[Workload], *, actor: User) -> None:
    """That these were made. Who has to know of them is told in one go (``news_of``)."""
    insert_values(
        Event,
        (
            {"workload_id": it.pk, "phase": it.phase, "verb": "submit", "actor_id": actor.pk}
            for it in workloads
        ),
    )


def news_of(workloads: Sequence[Workload]) -> News:
    """For open tables: there are more workloads of their one project."""
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
    """The workload's present phase as an event; ``tell`` says what open pages do about it."""
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


def act(workload: Workload, message: str, *, actor: User, verb: str) -> None:
    """Something that a person did without a change of phase."""
    insert([Event(workload=workload, message=message, actor=actor, verb=verb)])
    announce(workload)


def note(workload: Workload, message: str, *, source: str, reason: Reason = Reason.NONE) -> None:
    """Something that happened without a change of phase."""
    insert([Event(workload=workload, message=message, source=source, reason=reason)])
    announce(workload)


def end_before_deletion(workload: Workload) -> dict[str, str]:
    """How it had ended when it was deleted, which is what people want to know of it then. One that
    had not ended was stopped by its deletion."""
    phases = workload.events.exclude(phase__in=["", Phase.DELETING]).order_by("-pk")
    last = phases.first()
    if last is None or last.phase not in ENDED:
        return {"phase": Phase.STOPPED}
    return {"phase": last.phase, "reason": last.reason, "message": last.message}
