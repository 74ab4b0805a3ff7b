"""Notifications by a real mail server: what they say, digests, retries, and a slow server."""

import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
import redis
import time_machine
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from notifications import tasks
from notifications.delivery import mail, outbox, rounds
from notifications.models import DeliveryState, Mail, Notification
from spec.phases import Phase, RankPhase, Reason
from tests.factories import UserFactory, WorkloadFactory, remove_members
from tests.notifications.factories import NotificationFactory, SubscriptionFactory
from tests.notifications.mailbox import Mailbox, mail_server, text_of
from workloads import logs
from workloads.history import events
from workloads.models import Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]


@pytest.fixture
def mailbox(settings: Settings) -> Iterator[Mailbox]:
    with mail_server(Mailbox()) as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST = "127.0.0.1"
        settings.EMAIL_PORT = server.port
        settings.EMAIL_USE_TLS = False
        settings.PUBLIC_URL = "https://trainyard.example.com"
        yield server


@pytest.fixture
def person() -> User:
    return UserFactory(username="ada", email="ada@example.com")


@pytest.fixture
def workload(person: User) -> Workload:
    outbox.begin()
    SubscriptionFactory(user=person, mail=True)
    return WorkloadFactory(name="train", created_by=person, running=True)


def fail(workload: Workload) -> None:
    workload.phase = Phase.FAILED
    workload.reason = Reason.RANK_FAILED
    workload.message = "Rank 1 exited with 1."
    workload.save()
    events.record_phase(workload)
    rounds.run()


def add_notifications(workload: Workload, number: int) -> None:
    for _ in range(number):
        NotificationFactory(workload=workload, title="train failed", wants_mail=True)


def test_a_failure_arrives_with_reason_cause_last_lines_and_link(
    mailbox: Mailbox, workload: Workload
) -> None:
    rank = workload.ranks.get(rank=1)
    rank.phase = RankPhase.FAILED
    rank.exit_code = 1
    rank.save()
    logs.append(logs.Stream(workload.pk, workload.run, 0, 1), b"loss <nan>\n")
    fail(workload)
    tasks.send_mails()
    (email,) = mailbox.received
    assert (email["To"], email["Subject"]) == ("ada@example.com", "[Trainyard] train failed")
    for kind in ("plain", "html"):
        text = text_of(email, kind)
        assert "Rank 1 exited with 1." in text
        assert "Reason: RankFailed" in text
        assert "exit code 1" in text
        assert f"Project: {workload.project}" in text
        assert f"https://trainyard.example.com{workload.get_absolute_url()}" in text
    assert "loss <nan>" in text_of(email)
    assert "loss &lt;nan&gt;" in text_of(email, "html")
    sent = Mail.objects.get()
    assert (sent.state, sent.attempts, sent.next_try_at) == (DeliveryState.DELIVERED, 1, None)
    tasks.send_mails()
    assert len(mailbox.received) == 1


def test_people_without_an_address_or_choice_get_no_mail(
    mailbox: Mailbox, workload: Workload, person: User
) -> None:
    User.objects.filter(pk=person.pk).update(email="")
    fail(workload)
    User.objects.filter(pk=person.pk).update(email="ada@example.com")
    person.subscriptions.update(mail=False)
    fail(workload)
    tasks.send_mails()
    assert mailbox.received == []
    assert Notification.objects.count() == 2


def test_without_a_mail_server_nothing_waits_for_one(
    workload: Workload, settings: Settings
) -> None:
    settings.EMAIL_HOST = ""
    add_notifications(workload, 1)
    fail(workload)
    tasks.send_mails()
    assert not Notification.objects.filter(wants_mail=True).exists()
    assert not Mail.objects.exists()


def test_ten_notifications_are_ten_mails(mailbox: Mailbox, workload: Workload) -> None:
    add_notifications(workload, 10)
    tasks.send_mails()
    assert len(mailbox.received) == 10


def test_more_than_ten_become_one(mailbox: Mailbox, workload: Workload) -> None:
    add_notifications(workload, 11)
    tasks.send_mails()
    (email,) = mailbox.received
    assert email["Subject"] == "[Trainyard] 11 notifications"
    assert text_of(email).count("train failed") == 11


def test_a_flood_waits_five_minutes_for_its_digest(mailbox: Mailbox, workload: Workload) -> None:
    add_notifications(workload, 8)
    tasks.send_mails()
    add_notifications(workload, 30)
    tasks.send_mails()
    assert len(mailbox.received) == 8
    with time_machine.travel(timezone.now() + mail.WINDOW + timedelta(seconds=1), tick=True):
        tasks.send_mails()
    assert [email["Subject"] for email in mailbox.received[8:]] == ["[Trainyard] 30 notifications"]


def test_a_refused_mail_is_tried_again_and_its_fault_is_kept(
    mailbox: Mailbox, workload: Workload
) -> None:
    mailbox.answer = "451 Try again later"
    add_notifications(workload, 1)
    tasks.send_mails()
    row = Mail.objects.get()
    assert (row.state, row.fault) == (
        DeliveryState.PENDING,
        "The mail server answered 451 Try again later",
    )
    mailbox.answer = Mailbox.answer
    tasks.send_mails()
    assert mailbox.received == []
    with time_machine.travel(timezone.now() + timedelta(seconds=10), tick=True):
        tasks.send_mails()
    row.refresh_from_db()
    assert (row.state, row.attempts, row.fault) == (DeliveryState.DELIVERED, 2, "")


def test_a_final_refusal_is_given_up_at_once(mailbox: Mailbox, workload: Workload) -> None:
    mailbox.answer = "554 No such person"
    add_notifications(workload, 1)
    tasks.send_mails()
    row = Mail.objects.get()
    assert (row.state, row.next_try_at) == (DeliveryState.FAILED, None)


def test_a_server_that_is_down_is_said_and_tried_again(
    workload: Workload, settings: Settings
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = "127.0.0.1"
    settings.EMAIL_PORT = 1  # nothing listens there
    settings.EMAIL_USE_TLS = False
    add_notifications(workload, 3)
    tasks.send_mails()
    assert Mail.objects.filter(attempts=1).count() == 1, "one attempt shows that it is down"
    assert "cannot be used" in Mail.objects.exclude(fault="").get().fault


def test_a_slow_server_is_cut_off_and_delays_no_webhook(
    mailbox: Mailbox, workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    mailbox.seconds = 5
    monkeypatch.setattr(mail, "SEND_SECONDS", 0.2)
    add_notifications(workload, 2)
    begun = time.monotonic()
    tasks.send_mails()
    assert time.monotonic() - begun < 3
    assert "did not take it within" in Mail.objects.exclude(fault="").get().fault


def test_a_wrong_password_is_told_and_never_shown(workload: Workload, settings: Settings) -> None:
    with mail_server(Mailbox(password="right")) as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST = "127.0.0.1"
        settings.EMAIL_PORT = server.port
        settings.EMAIL_USE_TLS = False
        settings.EMAIL_HOST_USER = "trainyard"
        settings.EMAIL_HOST_PASSWORD = "wrong-secret"
        add_notifications(workload, 1)
        tasks.send_mails()
        row = Mail.objects.get()
        assert row.fault.startswith("The mail server answered 535")
        assert "wrong-secret" not in row.fault
        settings.EMAIL_HOST_PASSWORD = "right"
        with time_machine.travel(timezone.now() + timedelta(seconds=10), tick=True):
            tasks.send_mails()
        assert len(server.received) == 1


def test_who_lost_the_project_before_the_mail_gets_none(
    mailbox: Mailbox, workload: Workload, person: User
) -> None:
    add_notifications(workload, 1)
    remove_members(workload.project, person)
    tasks.send_mails()
    assert mailbox.received == []
    assert Mail.objects.get().state == DeliveryState.FAILED


def test_one_worker_sends_at_a_time(
    mailbox: Mailbox, workload: Workload, valkey: redis.Redis
) -> None:
    add_notifications(workload, 1)
    valkey.set("lease:mails", "another")
    tasks.send_mails()
    assert mailbox.received == []


def test_old_notifications_and_mails_are_deleted(mailbox: Mailbox, workload: Workload) -> None:
    add_notifications(workload, 1)
    tasks.send_mails()
    mail.prune()
    assert Notification.objects.count() == Mail.objects.count() == 1
    with time_machine.travel(timezone.now() + timedelta(days=31)):
        mail.prune()
    assert not Notification.objects.exists()
    assert not Mail.objects.exists()
