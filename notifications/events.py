"""The events of webhooks, and the messages about them."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from core.database.choices import Choices
from notifications.models import Webhook
from projects.scopes import Scope
from spec.phases import Phase
from workloads.models import Event, Workload

EVERY_EVENT = "*"
TEST = "webhook.test"
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


def event_type(phase: str) -> str:
    return f"workload.{phase.lower()}"


TYPES = tuple(event_type(phase) for phase in Phase)


def choices() -> Choices:
    """Return the events as choices of a form."""
    return [
        (EVERY_EVENT, "Every event"),
        *((event_type(phase), label) for phase, label in LABELS.items()),
    ]


def event_label(name: str) -> str:
    return dict(choices()).get(name, "Test")


def is_subscribed(webhook: Webhook, event: Event) -> bool:
    """Whether a webhook gets a message about an event. It gets none about earlier events than the
    moment when it was turned on."""
    return (
        not {EVERY_EVENT, event_type(event.phase)}.isdisjoint(webhook.events)
        and webhook.listens_since <= event.at
        and _is_in_scope(webhook, event.workload)
    )


def _is_in_scope(webhook: Webhook, workload: Workload) -> bool:
    """Whether the workload is in the scope of the webhook."""
    match webhook.scope:
        case Scope.PROJECT:
            return webhook.project_id == workload.project_id
        case Scope.DEPARTMENT:
            return webhook.department_id == workload.project.department_id
        case Scope.CLUSTER:
            return webhook.cluster_id == workload.cluster_id
    return webhook.scope == Scope.ACCOUNT


def event_body(event: Event) -> str:
    """Return the body of a message, as it is sent and signed. Its ``version`` increases with each
    event of a workload."""
    workload = event.workload
    return _body(
        event_type(event.phase),
        event.at,
        {
            "id": str(workload.pk),
            "name": workload.name,
            "type": workload.kind,
            "projectId": str(workload.project_id),
            "projectName": workload.project.name,
            "clusterId": str(workload.cluster_id),
            "phase": event.phase,
            "reason": event.reason,
            "message": event.message,
            "actor": event.actor_name,
            "version": event.pk,
        },
    )


def test_body(webhook: Webhook, at: datetime) -> str:
    return _body(TEST, at, {"id": str(webhook.pk), "name": webhook.name})


def _body(name: str, at: datetime, data: dict[str, Any]) -> str:
    timestamp = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps({"type": name, "timestamp": timestamp, "data": data}, ensure_ascii=False)


def sort_events(names: Iterable[str]) -> list[str]:
    """Return the names of known events, in the order of the table, without repetitions."""
    wanted = set(names)
    return [name for name, _ in choices() if name in wanted]
