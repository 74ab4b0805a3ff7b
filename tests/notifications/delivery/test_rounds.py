"""Sending to a real receiver, and what is left when it goes wrong."""

import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
import time_machine
from celery import current_app
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from core.broker.lease import hold_lease
from notifications import tasks
from notifications.delivery import outbox, results, rounds
from notifications.models import (
    UNADDRESSED,
    UNSIGNED,
    Delivery,
    DeliveryState,
    Webhook,
    new_secret,
)
from notifications.webhooks import services
from tests.factories import UserFactory, WorkloadFactory
from tests.notifications.factories import WebhookFactory
from tests.notifications.receiver import HookReceiver, answers
from workloads.history import events

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]


@pytest.fixture
def webhook(receiver: HookReceiver) -> Webhook:
    outbox.begin()
    return WebhookFactory(url=receiver.url)


def happen(times: int = 1) -> None:
    workload = WorkloadFactory(running=True)
    for _ in range(times):
        events.record_phase(workload)


def test_a_change_reaches_the_receiver_signed(webhook: Webhook, receiver: HookReceiver) -> None:
    happen()
    tasks.deliver()
    (got,) = receiver.received
    told = Verifier(webhook.secret).verify(got.body, got.headers)
    assert told["type"] == "workload.running"
    with pytest.raises(WebhookVerificationError):
        Verifier(new_secret()).verify(got.body, got.headers)
    with pytest.raises(WebhookVerificationError):
        Verifier(webhook.secret).verify(got.body.replace("running", "failed"), got.headers)
    delivery = Delivery.objects.get()
    assert got.headers["webhook-id"] == delivery.message_id
    assert (delivery.state, delivery.status_code) == (DeliveryState.DELIVERED, 204)
    assert (delivery.attempts, delivery.next_try_at) == (1, None)
    tasks.deliver()
    assert len(receiver.received) == 1


def test_a_message_is_signed_with_the_old_secret_too_for_a_day(
    webhook: Webhook, receiver: HookReceiver
) -> None:
    old = webhook.secret
    webhook.old_secret = webhook.secret
    webhook.secret = new_secret()
    webhook.old_secret_until = timezone.now() + timedelta(hours=1)
    webhook.save()
    happen()
    rounds.run()
    (got,) = receiver.received
    for secret in (old, webhook.secret):
        Verifier(secret).verify(got.body, got.headers)
    webhook.old_secret_until = timezone.now()
    assert webhook.secrets == [webhook.secret]


def test_a_lost_secret_is_reported_and_delays_no_other_webhook(
    webhook: Webhook, receiver: HookReceiver, settings: Settings
) -> None:
    key = settings.SECRET_KEY
    settings.SECRET_KEY = "another"
    other = WebhookFactory(url=receiver.url)
    happen()
    rounds.run()
    (got,) = receiver.received
    Verifier(other.secret).verify(got.body, got.headers)
    held = Delivery.objects.get(webhook=webhook)
    assert (held.attempts, held.is_blocked, held.webhook.failing_since) == (0, True, None)
    author = UserFactory(administrator=True)
    there = Webhook.objects.get(pk=webhook.pk)
    facts = {
        "name": "renamed",
        "url": there.url,
        "events": there.events,
        "pending_minutes": 30,
        "enabled": True,
    }
    services.update(there, by=author, **facts)
    settings.SECRET_KEY = key
    back = Webhook.objects.get(pk=webhook.pk)
    assert (back.secret, back.url) == (webhook.secret, webhook.url), "their key is back"
    settings.SECRET_KEY = "another"
    renewed = services.renew_secret(Webhook.objects.get(pk=webhook.pk), by=author)
    assert Webhook.objects.get(pk=webhook.pk).secrets == [renewed]
    there = Webhook.objects.get(pk=webhook.pk)
    services.update(there, by=author, **facts | {"url": webhook.url})
    rounds.run()
    assert held.message_id == receiver.received[-1].headers["webhook-id"]
    Verifier(renewed).verify(receiver.received[-1].body, receiver.received[-1].headers)


def test_a_test_message_without_a_secret_fails_at_once(
    webhook: Webhook, settings: Settings
) -> None:
    settings.SECRET_KEY = "another"
    test = services.send_test(webhook, by=UserFactory(administrator=True))
    rounds.run()
    test.refresh_from_db()
    assert (test.state, test.fault) == (DeliveryState.FAILED, UNSIGNED)
    assert Webhook.objects.get().failing_since is None


def test_messages_wait_for_an_address_that_is_lost_too(
    webhook: Webhook, receiver: HookReceiver, settings: Settings
) -> None:
    by = UserFactory(administrator=True)
    settings.SECRET_KEY = "another"
    services.renew_secret(Webhook.objects.get(), by=by)
    happen()
    rounds.run()
    assert (Webhook.objects.get().lost_reason, Delivery.objects.get().is_blocked) == (
        UNADDRESSED,
        True,
    )
    facts: dict[str, Any] = {
        "name": "hook",
        "events": ["*"],
        "pending_minutes": 30,
        "enabled": True,
    }
    services.update(Webhook.objects.get(), by=by, url=receiver.url, **facts)
    rounds.run()
    assert len(receiver.received) == 1


def test_a_webhook_without_a_secret_for_days_is_turned_off(
    webhook: Webhook, settings: Settings
) -> None:
    happen()
    outbox.create_deliveries()
    settings.SECRET_KEY = "another"
    results.prune()
    assert Webhook.objects.get().enabled
    Delivery.objects.update(created_at=timezone.now() - results.ENDS_AFTER - timedelta(hours=1))
    results.prune()
    ended = Webhook.objects.get()
    assert (ended.enabled, ended.ended_because.endswith(UNSIGNED)) == (False, True)


def test_a_message_is_sent_again_if_its_result_was_not_recorded(
    webhook: Webhook, receiver: HookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    happen()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("notifications.delivery.results.record", killed)
        with pytest.raises(KeyboardInterrupt):
            rounds.run()
    rounds.run()
    assert len(receiver.received) == 1, "its claim has not ended"
    with time_machine.travel(timezone.now() + rounds.CLAIM_DURATION, tick=True):
        rounds.run()
    first, second = receiver.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert Delivery.objects.get().state == DeliveryState.DELIVERED


def test_a_delivery_is_claimed_by_one_worker(webhook: Webhook) -> None:
    happen()
    outbox.create_deliveries()
    mine = Delivery.objects.get()
    yours = Delivery.objects.get()
    assert (rounds.claim(mine), rounds.claim(yours)) == (True, False)


def test_a_second_worker_leaves_it_to_the_first(webhook: Webhook, receiver: HookReceiver) -> None:
    happen()
    with hold_lease("webhook-deliveries", seconds=10):
        rounds.run()
    assert receiver.received == []


def test_a_receiver_that_is_slow_does_not_hold_up_another(
    webhook: Webhook, receiver: HookReceiver
) -> None:
    others_are_done = threading.Event()
    reached: list[str] = []

    def behave(handler: BaseHTTPRequestHandler) -> None:
        reached.append(handler.path)
        if handler.path == "/quick" and reached.count("/quick") == 3:
            others_are_done.set()
        if handler.path == "/hook":
            others_are_done.wait(5)
        answers(200)(handler)

    receiver.behave = behave
    WebhookFactory(url=receiver.url.replace("/hook", "/quick"))
    happen(3)
    rounds.run()
    assert others_are_done.is_set(), "three went to the quick one during one to the slow one"
    assert reached.count("/hook") == 3
    assert not Delivery.objects.exclude(state=DeliveryState.DELIVERED).exists()


def test_messages_to_a_webhook_go_in_their_order(webhook: Webhook, receiver: HookReceiver) -> None:
    happen(4)
    rounds.run()
    numbers = [
        Delivery.objects.get(pk=it.headers["webhook-id"].removeprefix("msg_")).event
        for it in receiver.received
    ]
    assert numbers == sorted(filter(None, numbers))
    assert len(numbers) == 4


def test_a_change_wakes_the_worker_once(
    webhook: Webhook,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(current_app, "send_task", lambda task, *_, **__: sent.append(task))
    with django_capture_on_commit_callbacks(execute=True):
        happen(3)
    assert sent == ["notifications.deliver"]
    rounds.run()
    with django_capture_on_commit_callbacks(execute=True):
        happen()
    assert sent == ["notifications.deliver"] * 2
