"""From events to deliveries. An event is written in the transaction of the change that it tells of,
so nothing is lost: whoever comes here next reads it, however long that takes.

PostgreSQL gives an event its number before it is committed, so a smaller one may come later.
Numbers that are left out are looked for again, as long as any transaction may be open.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from core.database.inserts import insert
from notifications.models import Delivery, EventCursor, Webhook
from notifications.webhooks.events import message, type_of, wants
from workloads.models import Event

AT_ONCE = 500  # events of one transaction
LATE = timedelta(hours=1)
MOST_LATE = 2000  # numbers; a gap of more is no transaction of ours
THE_ROW = 1


def begin() -> None:
    """In the transaction of a webhook that starts to listen: if no other does, what happened until
    now is nobody's business."""
    cursor = _cursor()
    if not Webhook.objects.filter(enabled=True).exists():
        cursor.position, cursor.late = _newest(), []
        cursor.save()


def fill() -> int:
    """Write down what is to be sent. Returns how many deliveries that are."""
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
    """How many events were read, and deliveries written."""
    cursor, now = _cursor(), timezone.now()
    late = {number: at for number, at in cursor.late if datetime.fromisoformat(at) > now - LATE}
    rows = Event.objects.filter(Q(pk__gt=cursor.position) | Q(pk__in=list(late)))
    rows = rows.select_related("workload__project", "actor").order_by("pk")
    events = list(rows[:AT_ONCE])
    if not events and len(late) == len(cursor.late):
        return 0, 0
    deliveries = list(_deliveries(webhooks, events))
    insert(deliveries)
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
    """Held until the transaction ends. A new one begins with what comes now."""
    EventCursor.objects.get_or_create(pk=THE_ROW, defaults={"position": _newest()})
    return EventCursor.objects.select_for_update().get(pk=THE_ROW)


def _newest() -> int:
    return Event.objects.aggregate(number=Max("pk"))["number"] or 0
