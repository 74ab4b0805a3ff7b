"""Turn events into deliveries. An event is saved in the transaction of its change, so none is lost:
the next call here reads it, no matter how much later.

PostgreSQL numbers an event before it is committed, so an event with a smaller number may become
visible later. The missing numbers are read again for as long as their transactions may be open.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from notifications.events import event_body, event_type, is_subscribed
from notifications.models import Delivery, EventCursor, Webhook
from workloads.models import Event

BATCH_SIZE = 500  # events in one transaction
LATE_FOR = timedelta(hours=1)
MOST_LATE = 2000  # missing numbers; a larger gap is not from our transactions
CURSOR_ID = 1


def skip_earlier_events() -> None:
    """Skip all earlier events if no other webhook is on. Call this in the transaction that turns on
    a webhook."""
    cursor = _lock_cursor()
    if not Webhook.objects.filter(enabled=True).exists():
        cursor.position = _newest_event()
        cursor.late = []
        cursor.save()


def create_deliveries() -> int:
    """Create the deliveries for all new events. Returns how many were created."""
    total = 0
    while True:
        with transaction.atomic():
            webhooks = list(Webhook.objects.filter(enabled=True).select_related("department"))
            if not webhooks:
                return total
            event_count, delivery_count = _create_batch(webhooks)
        total += delivery_count
        if event_count < BATCH_SIZE:
            return total


def _create_batch(webhooks: list[Webhook]) -> tuple[int, int]:
    """Read a batch of events and create their deliveries. Returns how many events and
    deliveries."""
    # The cursor is locked, and saved in the transaction that creates the deliveries. So each event
    # is read once, even by two workers, or after a worker was killed.
    cursor = _lock_cursor()
    now = timezone.now()
    late = {
        number: noticed_at
        for number, noticed_at in cursor.late
        if datetime.fromisoformat(noticed_at) > now - LATE_FOR
    }
    rows = Event.objects.filter(Q(pk__gt=cursor.position) | Q(pk__in=list(late)))
    rows = rows.select_related("workload__project", "actor").order_by("pk")
    events = list(rows[:BATCH_SIZE])
    if not events and len(late) == len(cursor.late):
        return 0, 0
    deliveries = list(_new_deliveries(webhooks, events))
    Delivery.objects.bulk_create(deliveries)
    numbers = {event.pk for event in events}
    newest = max([cursor.position, *numbers])
    first_possible_gap = max(cursor.position, newest - MOST_LATE) + 1
    gaps = set(range(first_possible_gap, newest)) - numbers
    late |= dict.fromkeys(gaps, now.isoformat())
    cursor.position = newest
    cursor.late = [
        [number, noticed_at] for number, noticed_at in sorted(late.items()) if number not in numbers
    ]
    cursor.save()
    return len(events), len(deliveries)


def _new_deliveries(webhooks: list[Webhook], events: Iterable[Event]) -> Iterable[Delivery]:
    for event in events:
        for webhook in webhooks:
            if event.phase and is_subscribed(webhook, event):
                yield Delivery(
                    webhook=webhook,
                    event=event.pk,
                    type=event_type(event.phase),
                    subject=event.workload.name,
                    body=event_body(event),
                )


def _lock_cursor() -> EventCursor:
    """Return the cursor, locked until the transaction ends. A new one starts after the newest
    event."""
    EventCursor.objects.get_or_create(pk=CURSOR_ID, defaults={"position": _newest_event()})
    return EventCursor.objects.select_for_update().get(pk=CURSOR_ID)


def _newest_event() -> int:
    return Event.objects.aggregate(number=Max("pk"))["number"] or 0
