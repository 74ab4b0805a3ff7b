"""Turn events into deliveries and notifications. An event is saved in the transaction of its
change, so none is lost: the next call here reads it, no matter how much later.

PostgreSQL numbers an event before it is committed, so an event with a smaller number may become
visible later. The missing numbers are read again for as long as their transactions may be open.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.db.models import Max, OuterRef, Q, Subquery
from django.utils import timezone

from core.broker import enqueue, stream
from notifications import events
from notifications.delivery.audience import Audience
from notifications.models import Delivery, EventCursor, Notification, Webhook
from workloads.history.events import person_channel
from workloads.models import Event

BATCH_SIZE = 500  # events in one transaction
LATE_FOR = timedelta(hours=1)
MOST_LATE = 2000  # missing numbers; a larger gap is not from our transactions
OLDEST_NOTIFICATION = timedelta(days=1)  # people are not told of earlier events
CURSOR_ID = 1
#: The task that sends mails about notifications.
MAIL = "notifications.mail"
#: What pages that show notifications reload.
NOTIFICATIONS = "notifications"


def begin() -> None:
    """Have the events from now on read. Call this in the transaction that turns on a webhook."""
    _lock_cursor()


def create_deliveries() -> int:
    """Create the deliveries and notifications for all new events. Returns how many deliveries were
    created."""
    total = 0
    while _has_news():
        with transaction.atomic():
            event_count, delivery_count = _create_batch()
        total += delivery_count
        if event_count < BATCH_SIZE:
            break
    return total


def _has_news() -> bool:
    """Whether there may be events to read. Nearly always there are none, and then the database is
    not locked."""
    cursor = EventCursor.objects.filter(pk=CURSOR_ID).first()
    return cursor is None or bool(cursor.late) or _newest_event() > cursor.position


def _create_batch() -> tuple[int, int]:
    """Read a batch of events and create their deliveries and notifications. Returns how many
    events and deliveries."""
    # The cursor is locked, and saved in the transaction that creates the deliveries. So each event
    # is read once, even by two workers, or after a worker was killed.
    cursor = _lock_cursor()
    now = timezone.now()
    late = {
        number: noticed_at
        for number, noticed_at in cursor.late
        if datetime.fromisoformat(noticed_at) > now - LATE_FOR
    }
    earlier = Event.objects.filter(workload=OuterRef("workload"), pk__lt=OuterRef("pk"))
    rows = Event.objects.filter(Q(pk__gt=cursor.position) | Q(pk__in=list(late)))
    rows = rows.select_related("workload__project", "actor").order_by("pk")
    rows = rows.annotate(
        previous_phase=Subquery(earlier.exclude(phase="").order_by("-pk").values("phase")[:1])
    )
    batch = list(rows[:BATCH_SIZE])
    if not batch and len(late) == len(cursor.late):
        return 0, 0
    deliveries = list(_new_deliveries(batch))
    Delivery.objects.bulk_create(deliveries)
    save_notifications(_new_notifications(batch, now - OLDEST_NOTIFICATION))
    numbers = {event.pk for event in batch}
    newest = max([cursor.position, *numbers])
    first_possible_gap = max(cursor.position, newest - MOST_LATE) + 1
    gaps = set(range(first_possible_gap, newest)) - numbers
    late |= dict.fromkeys(gaps, now.isoformat())
    cursor.position = newest
    cursor.late = [
        [number, noticed_at] for number, noticed_at in sorted(late.items()) if number not in numbers
    ]
    cursor.save()
    return len(batch), len(deliveries)


def _new_deliveries(batch: Iterable[Event]) -> Iterator[Delivery]:
    webhooks = list(Webhook.objects.filter(enabled=True).select_related("department"))
    for event in batch:
        types = _types(event)
        for webhook in webhooks:
            name = events.subscribed_type(webhook, types)
            # A webhook gets no messages about earlier events than when it was turned on.
            is_new = webhook.listens_since <= event.at
            workload = event.workload
            is_inside = events.is_in_scope(webhook, workload.cluster_id, workload.project)
            if name and is_new and is_inside:
                yield Delivery(
                    webhook=webhook,
                    event=event.pk,
                    type=name,
                    subject=workload.name,
                    body=events.event_body(event, name),
                )


def _new_notifications(batch: Iterable[Event], since: datetime) -> Iterator[Notification]:
    audience = Audience()
    for event in batch:
        workload = event.workload
        types = _types(event) if event.at >= since else ()
        for recipient in audience.of_workload(workload, types, but=event.actor_id):
            yield recipient.notification(
                events.title(recipient.type, workload.name),
                reason=event.reason,
                text=event.message,
                event=event.pk,
                workload=workload,
                project=workload.project,
                cluster_id=workload.cluster_id,
                at=event.at,
            )


def _types(event: Event) -> tuple[str, ...]:
    return events.event_types(event, getattr(event, "previous_phase", None))


def save_notifications(notifications: Iterable[Notification]) -> None:
    """Save new notifications. After the commit, open pages of their people reload the bell, and the
    mails are sent."""
    rows = Notification.objects.bulk_create(notifications, ignore_conflicts=True)
    for user_id in {notification.user_id for notification in rows}:
        transaction.on_commit(partial(stream.publish, person_channel(user_id), NOTIFICATIONS))
    if any(notification.wants_mail for notification in rows):
        enqueue.send_once(MAIL, None, enqueue.PERIODIC)


def _lock_cursor() -> EventCursor:
    """Return the cursor, locked until the transaction ends. A new one starts after the newest
    event."""
    EventCursor.objects.get_or_create(pk=CURSOR_ID, defaults={"position": _newest_event()})
    return EventCursor.objects.select_for_update().get(pk=CURSOR_ID)


def _newest_event() -> int:
    return Event.objects.aggregate(number=Max("pk"))["number"] or 0
