"""The events of webhooks and of people's notifications, and the messages of webhooks about them.

An event of a workload has one or more types: that of its phase, and a narrower one for some
reasons. Three more types are conditions, which Trainyard looks for (``delivery.conditions``).
"""

import json
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from core.database.choices import Choices
from notifications.models import Webhook
from projects.models import Project
from projects.scopes import Scope
from spec.phases import GIVEN_BACK, RAN_BEFORE, STOPPED_OR_FAILED, Phase, Reason
from workloads.models import Event, Workload

EVERY_EVENT = "*"
TEST = "webhook.test"
DIGEST = "webhook.digest"
WORKLOAD_STARTED = "workload.started"
WILL_STOP_BY_RULE = "workload.will-stop-by-rule"
STOPPED_BY_RULE = "workload.stopped-by-rule"
PREEMPTED = "workload.preempted"
PENDING_LONG = "workload.pending-long"
QUOTA = "project.quota-nearly-used"
CLUSTER_DOWN = "cluster.disconnected"
#: What the event of each phase is called for people.
LABELS = {
    Phase.CREATING: "Submitted",
    Phase.PENDING: "Pending",
    Phase.INITIALIZING: "Initializing",
    Phase.RUNNING: "Running",
    Phase.RESUMING: "Run again",
    Phase.DEGRADED: "Degraded: a rank is missing",
    Phase.STOPPING: "Asked to stop",
    Phase.STOPPED: "Stopped",
    Phase.COMPLETED: "Completed",
    Phase.FAILED: "Failed",
    Phase.DELETING: "Deleted",
    Phase.UNKNOWN: "Unknown: its cluster does not answer",
}
#: What the narrower types and the conditions are called.
OTHER_LABELS = {
    WORKLOAD_STARTED: "Started: all ranks run",
    WILL_STOP_BY_RULE: "Warning: a rule will stop it soon",
    STOPPED_BY_RULE: "Stopped by a rule: a time or idle limit",
    PREEMPTED: "Preempted: its resources were taken back",
    PENDING_LONG: "Pending for long",
    QUOTA: "Quota nearly used",
    CLUSTER_DOWN: "Cluster down: it does not answer",
}


def event_type(phase: str) -> str:
    return f"workload.{phase.lower()}"


COMPLETED = event_type(Phase.COMPLETED)
FAILED = event_type(Phase.FAILED)
STOPPED = event_type(Phase.STOPPED)
TYPES = (*(event_type(phase) for phase in Phase), *OTHER_LABELS)
#: What a notification says of each, with the name of the workload, project or cluster.
TITLES = {
    WORKLOAD_STARTED: "{} started",
    COMPLETED: "{} completed",
    FAILED: "{} failed",
    STOPPED: "{} was stopped",
    WILL_STOP_BY_RULE: "{} will be stopped by a rule",
    STOPPED_BY_RULE: "{} was stopped by a rule",
    PREEMPTED: "{} was preempted",
    PENDING_LONG: "{} is pending for long",
    QUOTA: "{} has nearly used its quota",
    CLUSTER_DOWN: "{} does not answer",
}
#: The types that people choose from for themselves, by category.
PERSONAL_TYPES: dict[str, tuple[str, ...]] = {
    "Workload status change": (
        WORKLOAD_STARTED,
        COMPLETED,
        FAILED,
        STOPPED,
        STOPPED_BY_RULE,
        PREEMPTED,
    ),
    "Workload": (PENDING_LONG, WILL_STOP_BY_RULE),
    "Quota": (QUOTA,),
    "Cluster": (CLUSTER_DOWN,),
}
#: The reasons of a workload that a rule stopped.
RULES = {Reason.DEADLINE_EXCEEDED, Reason.IDLE, Reason.STOPPED_BY_RULE}


def event_types(event: Event, previous_phase: str | None) -> tuple[str, ...]:
    """Return the types of an event, the narrowest first; none if the phase did not change, and
    nothing will change it soon. ``previous_phase`` is that of the workload's phase event before."""
    if not event.phase:
        return (WILL_STOP_BY_RULE,) if event.reason == Reason.WILL_STOP_BY_RULE else ()
    narrow = []
    if event.phase == Phase.RUNNING and previous_phase not in RAN_BEFORE:
        narrow.append(WORKLOAD_STARTED)
    if event.phase in STOPPED_OR_FAILED and event.reason in RULES:
        narrow.append(STOPPED_BY_RULE)
    if event.phase in GIVEN_BACK and event.reason == Reason.PREEMPTED:
        narrow.append(PREEMPTED)
    return (*narrow, event_type(event.phase))


def choices() -> Choices:
    """Return the events as choices of a form."""
    return [
        (EVERY_EVENT, "Every event"),
        *((event_type(phase), label) for phase, label in LABELS.items()),
        *OTHER_LABELS.items(),
    ]


def personal_choices() -> Choices:
    """Return the events that people choose from for themselves, as choices of a form."""
    labels = dict(choices())
    return [(name, labels[name]) for names in PERSONAL_TYPES.values() for name in names]


def title(name: str, subject: str) -> str:
    """Return what happened, in a few words: the type of an event and what it is about."""
    return TITLES.get(name, f"{{}}: {event_label(name)}").format(subject)


def event_label(name: str) -> str:
    return dict(choices()).get(name, "Test")


def subscribed_type(webhook: Webhook, types: Collection[str]) -> str:
    """Return as which of its types a webhook gets an event: the widest that it subscribes to. Empty
    if it subscribes to none."""
    names = set(webhook.events)
    if EVERY_EVENT in names:
        names |= set(types)
    return next((name for name in reversed([*types]) if name in names), "")


def is_in_scope(webhook: Webhook, cluster_id: UUID, project: Project | None) -> bool:
    """Whether what happens in this project, or in the whole cluster without one, is in the scope of
    the webhook."""
    match webhook.scope:
        case Scope.PROJECT:
            return project is not None and webhook.project_id == project.pk
        case Scope.DEPARTMENT:
            return project is not None and webhook.department_id == project.department_id
        case Scope.CLUSTER:
            return webhook.cluster_id == cluster_id
    return webhook.scope == Scope.ACCOUNT


def event_body(event: Event, name: str = "") -> str:
    """Return the body of a message, as it is sent and signed. Its ``version`` increases with each
    event of a workload. ``name`` is its type, by default that of the phase."""
    facts = {
        "phase": event.phase,
        "reason": event.reason,
        "message": event.message,
        "actor": event.actor_name,
        "version": event.pk,
    }
    return message_body(
        name or event_type(event.phase), event.at, workload_facts(event.workload) | facts
    )


def workload_facts(workload: Workload) -> dict[str, Any]:
    """Return what a message says about its workload, whatever happened."""
    return {
        "id": str(workload.pk),
        "name": workload.name,
        "type": workload.kind,
        "projectId": str(workload.project_id),
        "projectName": workload.project.name,
        "clusterId": str(workload.cluster_id),
    }


def test_body(webhook: Webhook, at: datetime) -> str:
    return message_body(TEST, at, {"id": str(webhook.pk), "name": webhook.name})


def message_body(name: str, at: datetime, data: dict[str, Any]) -> str:
    """Return the body of a message of this type."""
    timestamp = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps({"type": name, "timestamp": timestamp, "data": data}, ensure_ascii=False)


def sort_events(names: Iterable[str]) -> list[str]:
    """Return the names of known events, in the order of the table, without repetitions."""
    wanted = set(names)
    return [name for name, _ in choices() if name in wanted]
