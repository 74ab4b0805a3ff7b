"""Store the cluster's events in the history of workloads."""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction

from clusters.models import Cluster
from engines.base import ClusterEvent
from workloads.history import events
from workloads.models import Event, Workload
from workloads.models.choices import EventSource

SOURCE: EventSource = "cluster"
MAX_EVENTS = 300  # events kept of one workload; the oldest go first

Key = tuple[UUID, str]


def store_events(cluster: Cluster, reported: Iterable[ClusterEvent]) -> None:
    """Store new events. A repeated one updates its row, so running this twice changes nothing."""
    latest: dict[Key, ClusterEvent] = {}
    for event in sorted(reported, key=lambda event: event.at):
        latest[event.workload_id, event.key] = event
    if not latest:
        return
    workloads = _workloads(cluster, {uid for uid, _ in latest})
    with transaction.atomic():
        changed = _store_rows(workloads, latest)
        for uid in changed:
            _forget_oldest(workloads[uid])
            events.announce(workloads[uid])


def _workloads(cluster: Cluster, uids: set[UUID]) -> dict[UUID, Workload]:
    rows = Workload.objects.filter(cluster=cluster, deleted_at=None).only("pk", "project_id")
    return rows.in_bulk(list(uids))


def _store_rows(workloads: dict[UUID, Workload], latest: dict[Key, ClusterEvent]) -> set[UUID]:
    """Insert and update rows; returns the workloads with news."""
    present = Event.objects.filter(workload__in=workloads, key__in=[key for _, key in latest])
    rows = {(row.workload_id, row.key): row for row in present}
    created = []
    changed = []
    for (uid, key), event in latest.items():
        row = rows.get((uid, key))
        if uid not in workloads:
            continue
        if row is None:
            created.append(Event(workload_id=uid, key=key, source=SOURCE, **_event_columns(event)))
        elif (row.at, row.count) < (event.at, event.count):
            for name, value in _event_columns(event).items():
                setattr(row, name, value)
            changed.append(row)
    Event.objects.bulk_create(created, ignore_conflicts=True)
    if changed:
        Event.objects.bulk_update(changed, ["at", "count", "message"])
    return {row.workload_id for row in (*created, *changed)}


def _event_columns(event: ClusterEvent) -> dict[str, object]:
    about = f" ({event.about})" if event.about else ""
    return {
        "at": event.at,
        "count": event.count,
        "message": f"{event.reason}: {event.message}{about}",
    }


def _forget_oldest(workload: Workload) -> None:
    events = workload.events.filter(source=SOURCE).exclude(key="").order_by("-at", "-pk")
    doomed = list(events.values_list("pk", flat=True)[MAX_EVENTS:])
    if doomed:
        Event.objects.filter(pk__in=doomed).delete()
