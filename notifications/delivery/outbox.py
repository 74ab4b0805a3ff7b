"""Turn events into deliveries. An event is saved in the transaction of its change, so none is lost:
the next call here reads it, however much later.

PostgreSQL numbers an event before it is committed, so a smaller number may become visible later.
Missing numbers are looked for again for as long as their transaction may be open.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from notifications.events import message, type_of, wants
from notifications.models import Delivery, EventCursor, Webhook
from workloads.models import Event

AT_ONCE = 500  # events that are read in one transaction
LATE = timedelta(hours=1)
MOST_LATE = 2000  # missing numbers; a larger gap is not from our transactions
THE_ROW = 1


def begin() -> None:
    """Skip all events until now if no other webhook is on. Call it in the transaction that turns on
    a webhook."""
    cursor = _cursor()
    if not Webhook.objects.filter(enabled=True).exists():
        cursor.position = _newest()
        cursor.late = []
        cursor.save()


def fill() -> int:
    """Create the deliveries for new events. Returns their number."""
    total = 0
    while True:
        with transaction.atomic():
            webhooks = list(Webhook.objects.filter(enabled=True).select_related("department"))
            if not webhooks:
                return total
            events, written = _fill(webhooks)
        total += written
        if events < AT_ONCE:
            return total


def _fill(webhooks: list[Webhook]) -> tuple[int, int]:
    """Read some events and create their deliveries. Returns the numbers of both."""
    cursor = _cursor()
    now = timezone.now()
    late = {number: at for number, at in cursor.late if datetime.fromisoformat(at) > now - LATE}
    rows = Event.objects.filter(Q(pk__gt=cursor.position) | Q(pk__in=list(late)))
    rows = rows.select_related("workload__project", "actor").order_by("pk")
    events = list(rows[:AT_ONCE])
    if not events and len(late) == len(cursor.late):
        return 0, 0
    deliveries = list(_deliveries(webhooks, events))
    Delivery.objects.bulk_create(deliveries)
    there = {event.pk for event in events}
    newest = max([cursor.position, *there])
    gaps = set(range(max(cursor.position, newest - MOST_LATE) + 1, newest)) - there
    late |= dict.fromkeys(gaps, now.isoformat())
    cursor.position = newest
    cursor.late = [[number, at] for number, at in sorted(late.items()) if number not in there]
    cursor.save()
    return len(events), len(deliveries)


def _deliveries(webhooks: list[Webhook], events: Iterable[Event]) -> Iterable[Delivery]:
    for event in events:
        for webhook in webhooks:
            if event.phase and wants(webhook, event):
                yield Delivery(
                    webhook=webhook,
                    event=event.pk,
                    type=type_of(event.phase),
                    subject=event.workload.name,
                    body=message(event),
                )


def _cursor() -> EventCursor:
    """The cursor, locked until the transaction ends. A new one starts after the newest event."""
    EventCursor.objects.get_or_create(pk=THE_ROW, defaults={"position": _newest()})
    return EventCursor.objects.select_for_update().get(pk=THE_ROW)


def _newest() -> int:
    return Event.objects.aggregate(number=Max("pk"))["number"] or 0
