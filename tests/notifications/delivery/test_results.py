"""What follows from how a message was received."""

from datetime import datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from audit.models import AuditEntry
from notifications.delivery import outbox, results, rounds
from notifications.delivery.post import HookAnswer
from notifications.events import TEST
from notifications.models import Delivery, DeliveryState, Webhook
from tests.factories import UserFactory, WorkloadFactory
from tests.notifications.factories import WebhookFactory
from workloads.history import events

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]
BROKEN = HookAnswer(500, "oops", "The receiver answered 500.", 12)
DONE = HookAnswer(200, "ok", "", 7)


@pytest.fixture
def delivery() -> Delivery:
    outbox.begin()
    WebhookFactory()
    events.record_phase(WorkloadFactory(running=True))
    outbox.create_deliveries()
    return Delivery.objects.get()


def sent(posted: HookAnswer) -> Delivery:
    """What is due is sent, and this came of it."""
    if delivery := Delivery.objects.due().first():
        assert rounds.claim(delivery)
        results.record(delivery, posted)
    return Delivery.objects.get()


def test_a_failed_message_is_retried_with_growing_delays_for_a_day(
    delivery: Delivery,
) -> None:
    begun = now = timezone.now()
    times: list[datetime] = []
    while delivery.state == DeliveryState.PENDING:
        with time_machine.travel(now, tick=False):
            delivery = sent(BROKEN)
        now = delivery.next_try_at or now
        times.append(now)
        assert (delivery.status_code, delivery.answer, delivery.milliseconds) == (500, "oops", 12)
    delays = [later - earlier for earlier, later in zip([begun, *times], times, strict=False)]
    assert delays[1:-1] == sorted(delays[1:-1])
    assert delivery.attempts == len(times) == len(results.DELAYS) + 1
    assert timedelta(hours=12) < now - begun < timedelta(hours=24)
    assert delivery.state == DeliveryState.FAILED


def test_each_attempt_is_kept_also_of_a_message_that_is_sent_again(delivery: Delivery) -> None:
    sent(BROKEN)
    results.make_due(delivery, by_id=UserFactory.create().pk)
    once_more = sent(DONE)
    assert [(it["status_code"], it["answer"], it["milliseconds"]) for it in once_more.log] == [
        (500, "oops", 12),
        (200, "ok", 7),
    ]
    for _ in range(results.MOST_ATTEMPTS):
        results.record(once_more, BROKEN)
    assert len(Delivery.objects.get().log) == results.MOST_ATTEMPTS


def test_after_a_failure_nothing_goes_to_that_webhook_for_a_moment(delivery: Delivery) -> None:
    sent(BROKEN)
    webhook = Webhook.objects.get()
    other = Delivery.objects.create(webhook=webhook, event=0, type="workload.failed", body="{}")
    assert not Delivery.objects.due().exists()
    webhook.quiet_until = timezone.now()
    webhook.save()
    assert Delivery.objects.due().get() == other


def test_a_success_ends_the_count_of_failures(delivery: Delivery) -> None:
    sent(BROKEN)
    assert Webhook.objects.get().failing_since
    with time_machine.travel(timezone.now() + timedelta(minutes=1)):
        assert sent(DONE).state == DeliveryState.DELIVERED
    webhook = Webhook.objects.get()
    assert (webhook.failures, webhook.failing_since, webhook.quiet_until) == (0, None, None)


def test_a_webhook_that_fails_for_days_is_turned_off_and_says_why(delivery: Delivery) -> None:
    sent(BROKEN)
    with time_machine.travel(timezone.now() + timedelta(days=3, minutes=1)):
        assert sent(BROKEN).state == DeliveryState.FAILED
    webhook = Webhook.objects.get()
    assert not webhook.enabled
    assert webhook.ended_because == (
        "No message was delivered for 3 days. The receiver answered 500."
    )
    assert str(AuditEntry.objects.first()).endswith(f"update webhook {webhook}")
    assert not Delivery.objects.due().exists()


def test_a_receiver_that_answers_410_is_left_alone_at_once(delivery: Delivery) -> None:
    assert sent(HookAnswer(410, "", "The receiver answered 410.")).state == DeliveryState.FAILED
    assert "410" in Webhook.objects.get().ended_because


def test_a_requested_delivery_is_sent_once_though_the_webhook_is_off(
    delivery: Delivery,
) -> None:
    results.give_up(delivery.webhook)
    Webhook.objects.update(enabled=False)
    results.make_due(delivery, by_id=UserFactory().pk)
    given_up = sent(BROKEN)
    assert (given_up.state, given_up.attempts) == (DeliveryState.FAILED, 1)
    assert Webhook.objects.get().failing_since is None, "it is off already"


def test_a_test_is_sent_once(delivery: Delivery) -> None:
    Delivery.objects.update(event=None, type=TEST)
    assert sent(BROKEN).state == DeliveryState.FAILED


def test_a_request_during_an_attempt_survives_its_result(
    delivery: Delivery,
) -> None:
    rounds.claim(delivery)
    results.make_due(delivery, by_id=UserFactory().pk)
    results.record(delivery, DONE)
    assert Delivery.objects.get().state == DeliveryState.PENDING
    assert sent(DONE).state == DeliveryState.DELIVERED


def test_a_result_of_a_webhook_that_was_deleted_is_nothing(delivery: Delivery) -> None:
    rounds.claim(delivery)
    Webhook.objects.all().delete()
    results.record(delivery, DONE)
    assert not Delivery.objects.exists()


def test_old_deliveries_are_forgotten_and_of_many_the_first(
    delivery: Delivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "MOST_KEPT", 3)
    now = timezone.now()
    webhook = delivery.webhook
    for days in (31, 4, 3, 2, 1):
        Delivery.objects.create(
            webhook=webhook,
            event=-days,
            type="workload.failed",
            body="{}",
            state=DeliveryState.FAILED,
            created_at=now - timedelta(days=days),
        )
    results.prune()
    kept = Delivery.objects.order_by("event").values_list("event", flat=True)
    assert list(kept) == [-2, -1, delivery.event]
    Delivery.objects.filter(pk=delivery.pk).update(created_at=now - timedelta(days=40))
    results.prune()
    assert Delivery.objects.filter(pk=delivery.pk).exists(), "not before it is over"
