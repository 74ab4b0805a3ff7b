"""Record the result of sending a message, and decide whether it is sent again."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from audit import services as audit
from notifications.delivery.post import HookAnswer
from notifications.events import TEST
from notifications.models import Delivery, DeliveryState, Webhook

#: The delays between failed attempts, about a day altogether.
DELAYS = (
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
)
FIRST_QUIET = timedelta(
    seconds=5
)  # without messages after a failure; doubles with each further one
LONGEST_QUIET = timedelta(minutes=5)
ENDS_AFTER = timedelta(days=3)  # of failures without a success
KEPT_FOR = timedelta(days=30)
MOST_KEPT = 1000  # deliveries kept for each webhook
MOST_ATTEMPTS = 20  # attempts kept for each message: more than two full series
OFF = "The webhook was turned off."
NOTHING_DELIVERED = f"No message was delivered for {ENDS_AFTER.days} days."


def record(delivery: Delivery, result: HookAnswer) -> None:
    """Record the result of sending a delivery. ``delivery`` is the row as it was claimed."""
    with transaction.atomic():
        webhook = Webhook.objects.select_for_update().filter(pk=delivery.webhook_id).first()
        if webhook is None:  # it was deleted meanwhile
            return
        rows = Delivery.objects.filter(pk=delivery.pk)
        now = timezone.now()
        columns = {
            "milliseconds": result.milliseconds,
            "status_code": result.status,
            "answer": result.answer,
            "fault": result.fault,
        }
        log = rows.values_list("log", flat=True).first() or []
        entry = {"at": now.isoformat(), **columns}
        rows.update(log=[*log, entry][-MOST_ATTEMPTS:])
        # Only if the claim is still ours: a delivery that a user requested again meanwhile stays
        # due.
        rows.filter(next_try_at=delivery.next_try_at).update(
            sent_at=now,
            **columns,
            **_next_columns(delivery, webhook, result),
        )
        if result.is_success:
            _clear_failures(webhook)
        elif (
            webhook.enabled and not webhook.lost_reason
        ):  # otherwise it is not the receiver's fault
            _count_failure(webhook, result)


def _next_columns(delivery: Delivery, webhook: Webhook, result: HookAnswer) -> dict[str, object]:
    """Return the columns that say what happens next: nothing, or another attempt."""
    if result.is_success:
        return {"state": DeliveryState.DELIVERED, "next_try_at": None}
    is_last = delivery.attempts > len(DELAYS) or delivery.type == TEST
    if is_last or result.is_gone or not webhook.enabled:
        return {"state": DeliveryState.FAILED, "next_try_at": None}
    return {"next_try_at": timezone.now() + DELAYS[delivery.attempts - 1], "asked_by": None}


def _clear_failures(webhook: Webhook) -> None:
    if webhook.failures:
        rows = Webhook.objects.filter(pk=webhook.pk)
        rows.update(failures=0, failing_since=None, quiet_until=None)


def _count_failure(webhook: Webhook, result: HookAnswer) -> None:
    """Pause the webhook for longer with each failure, and turn it off after days of them."""
    now = timezone.now()
    webhook.failures = min(webhook.failures + 1, 1000)
    webhook.failing_since = webhook.failing_since or now
    webhook.quiet_until = now + min(FIRST_QUIET * 2 ** min(webhook.failures - 1, 10), LONGEST_QUIET)
    webhook.save(update_fields=["failures", "failing_since", "quiet_until"])
    if result.is_gone:
        _turn_off(webhook, "The receiver answered 410: it wants no more messages.")
    elif now - webhook.failing_since > ENDS_AFTER:
        _turn_off(webhook, f"{NOTHING_DELIVERED} {result.fault}")


def _turn_off(webhook: Webhook, reason: str) -> None:
    before = audit.facts(webhook)
    webhook.enabled = False
    webhook.ended_because = reason
    webhook.save(update_fields=["enabled", "ended_because"])
    give_up(webhook)
    audit.record(None, "update", webhook, before=before, after=audit.facts(webhook))


def _turn_off_if_blocked_for_long(webhook: Webhook) -> None:
    oldest = webhook.deliveries.filter(state=DeliveryState.PENDING).order_by("created_at").first()
    if oldest and oldest.created_at < timezone.now() - ENDS_AFTER:
        with transaction.atomic():
            _turn_off(webhook, f"{NOTHING_DELIVERED} {webhook.lost_reason}")


def give_up(webhook: Webhook) -> None:
    """Give up all pending deliveries of a webhook that was turned off. A user can send each of them
    again."""
    rows = webhook.deliveries.filter(state=DeliveryState.PENDING)
    rows.update(state=DeliveryState.FAILED, next_try_at=None, asked_by=None, fault=OFF)


def make_due(delivery: Delivery, *, by_id: int) -> None:
    """Make a delivery due now, in any state, with as many attempts as a new one."""
    rows = Delivery.objects.filter(pk=delivery.pk)
    rows.update(
        state=DeliveryState.PENDING, next_try_at=timezone.now(), attempts=0, asked_by_id=by_id
    )


def prune() -> None:
    """Delete old deliveries, and all but the newest of each webhook. Turn off webhooks that have
    had no readable secret or address for days."""
    finished = Delivery.objects.exclude(state=DeliveryState.PENDING)
    finished.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()
    for webhook in Webhook.objects.all():
        if webhook.enabled and webhook.lost_reason:
            _turn_off_if_blocked_for_long(webhook)
        rows = webhook.deliveries.order_by("-created_at")
        last = rows.values_list("created_at", flat=True)[MOST_KEPT - 1 : MOST_KEPT].first()
        if last is not None:
            finished.filter(webhook=webhook, created_at__lt=last).delete()
