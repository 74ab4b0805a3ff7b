"""Create deliveries and notifications, send the deliveries that are due, and record the results.

One worker at a time does this, in one of its threads. It sends to several webhooks at the same
time, but only one message to each. A delivery is claimed before it is sent. If the worker is killed
before it has recorded the result, the claim expires and the message is sent again, with the same
id."""

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from core.broker import enqueue
from core.broker.lease import hold_lease
from notifications.delivery import outbox, results, signature, slack
from notifications.delivery.post import HookAnswer, post
from notifications.models import Delivery, Webhook
from workloads.history.events import NOTIFY

LEASE_SECONDS = 15.0
CHECK_SECONDS = 1.0  # seconds between two checks for more deliveries while others are being sent
LONGEST_SECONDS = 60.0
CLAIM_DURATION = timedelta(seconds=90)  # much longer than sending takes
PARALLEL_WEBHOOKS = 8  # webhooks

Post = Callable[[str, str, dict[str, str]], HookAnswer]
Start = Callable[[Delivery], "Future[HookAnswer]"]


def run(post: Post = post) -> None:
    """Send until nothing is due, but not longer than ``LONGEST_SECONDS``: the clock calls again.
    Does nothing if another worker is sending."""
    with hold_lease("webhook-deliveries", seconds=LEASE_SECONDS) as extend:
        if extend is None:
            return
        with ThreadPoolExecutor(PARALLEL_WEBHOOKS, "webhook") as threads:
            _send_all(partial(_start_sending, threads, post), extend)


def _send_all(
    start: "Callable[[Delivery], Future[HookAnswer]]", extend: Callable[[], bool]
) -> None:
    running: dict[Future[HookAnswer], Delivery] = {}
    end = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < end and extend():  # without the lease another worker may be sending
        enqueue.allow_next(NOTIFY, None)
        outbox.create_deliveries()
        slack.fold_floods()
        busy = {delivery.webhook_id for delivery in running.values()}
        for delivery in _due_deliveries(busy, PARALLEL_WEBHOOKS - len(busy)):
            if claim(delivery):
                running[start(delivery)] = delivery
        if not running:
            return
        finished, _ = wait(running, CHECK_SECONDS, FIRST_COMPLETED)
        for future in finished:
            results.record(running.pop(future), future.result())
    wait(running)  # messages that were sent need their results recorded
    for future, delivery in running.items():
        results.record(delivery, future.result())


def _due_deliveries(busy: set[UUID], most: int) -> list[Delivery]:
    """Return the first due delivery of each webhook that is not ``busy``, at most ``most``. If the
    address or the secret of a webhook is lost, only deliveries that a user requested are returned;
    they fail at once."""
    first: dict[UUID, Delivery] = {}
    lost = [webhook.pk for webhook in Webhook.objects.all() if webhook.lost_reason]
    due = Delivery.objects.due().exclude(webhook__in=busy)
    for delivery in due.exclude(webhook__in=lost, asked_by=None)[: 50 * PARALLEL_WEBHOOKS]:
        first.setdefault(delivery.webhook_id, delivery)
    return list(first.values())[:most]


def claim(delivery: Delivery) -> bool:
    """Claim a delivery, so that no other worker sends it before the claim expires. Returns whether
    that succeeded."""
    until: datetime = timezone.now() + CLAIM_DURATION
    # The UPDATE only matches the row as it was read, so only one of two workers gets the claim.
    rows = Delivery.objects.filter(
        pk=delivery.pk, state=delivery.state, next_try_at=delivery.next_try_at
    )
    is_claimed = bool(rows.update(next_try_at=until, attempts=F("attempts") + 1))
    if is_claimed:
        delivery.next_try_at = until
        delivery.attempts = delivery.attempts + 1
    return is_claimed


def _start_sending(
    threads: ThreadPoolExecutor, post: Post, delivery: Delivery
) -> "Future[HookAnswer]":
    webhook = delivery.webhook
    if webhook.lost_reason:
        return threads.submit(HookAnswer, fault=webhook.lost_reason)
    if webhook.is_slack:
        slack.prepare(delivery)
        return threads.submit(post, webhook.url, delivery.body, {})
    headers = signature.headers(
        delivery.message_id, int(time.time()), delivery.body, webhook.secrets
    )
    return threads.submit(post, webhook.url, delivery.body, headers)
