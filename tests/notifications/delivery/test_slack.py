"""Messages to Slack: a text, a secret address, and digests of floods."""

import json
from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from notifications.delivery import outbox, rounds, slack
from notifications.models import Delivery, DeliveryState, Webhook
from notifications.webhooks import services
from projects.models import Project
from spec.phases import Phase, Reason
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory
from tests.notifications.factories import WebhookFactory
from tests.notifications.receiver import HookReceiver, answers
from workloads import logs
from workloads.history import events
from workloads.models import Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]


@pytest.fixture
def project() -> Project:
    return ProjectFactory(name="vision")


@pytest.fixture
def channel(receiver: HookReceiver, project: Project) -> Webhook:
    outbox.begin()
    return WebhookFactory(of_project=True, project=project, format="slack", url=receiver.url)


def fail(project: Project, times: int = 1) -> Workload:
    workload = WorkloadFactory(project=project, failed=True, reason=Reason.RANK_FAILED)
    workload.message = "Rank 1 exited with 1: <!channel> & more."
    workload.save()
    workload.ranks.filter(rank=1).update(exit_code=1)
    logs.append(logs.Stream(workload.pk, workload.run, 0, 1), b"loss <nan> ```\n")
    for _ in range(times):
        events.record_phase(workload)
    return workload


def texts(receiver: HookReceiver) -> list[str]:
    return [json.loads(got.body)["text"] for got in receiver.received]


def test_a_failure_is_a_text_with_cause_last_lines_and_link(
    channel: Webhook, receiver: HookReceiver, project: Project, settings: Settings
) -> None:
    settings.PUBLIC_URL = "https://trainyard.example.com"
    workload = fail(project)
    rounds.run()
    (text,) = texts(receiver)
    link = f"https://trainyard.example.com{workload.get_absolute_url()}"
    assert f"<{link}" in text
    assert f"{workload.name} failed" in text
    assert "Reason: RankFailed" in text
    assert "&lt;!channel&gt; &amp; more" in text
    assert "```loss &lt;nan&gt; '''```" in text
    assert "<!channel>" not in text
    assert not [name for name in receiver.received[0].headers if name.startswith("webhook-")]
    assert Delivery.objects.get().state == DeliveryState.DELIVERED


def test_a_message_that_is_sent_again_stays_the_same(
    channel: Webhook, receiver: HookReceiver, project: Project
) -> None:
    receiver.behave = answers(500)
    workload = fail(project)
    rounds.run()
    Workload.objects.filter(pk=workload.pk).update(phase=Phase.RESUMING)
    receiver.behave = answers(200, "ok")
    services.resend(Delivery.objects.get(), by=UserFactory(administrator=True))
    rounds.run()
    first, second = receiver.received
    assert first.body == second.body


def test_a_test_says_that_it_is_one(channel: Webhook, receiver: HookReceiver) -> None:
    services.send_test(channel, by=UserFactory(administrator=True))
    rounds.run()
    assert texts(receiver) == [f"A test of the webhook {channel.name} of Trainyard."]


def test_more_than_ten_messages_become_one(
    channel: Webhook, receiver: HookReceiver, project: Project
) -> None:
    fail(project, times=60)
    rounds.run()
    (text,) = texts(receiver)
    assert text.startswith("*60 events*")
    assert text.count(" failed") == slack.MOST_IN_DIGEST
    assert text.endswith("and 10 more")
    assert Delivery.objects.get().subject == "60 events"


def test_a_flood_after_messages_waits_five_minutes(
    channel: Webhook, receiver: HookReceiver, project: Project
) -> None:
    fail(project, times=3)
    rounds.run()
    fail(project, times=20)
    rounds.run()
    assert len(receiver.received) == 3
    with time_machine.travel(timezone.now() + slack.WINDOW + timedelta(seconds=1), tick=True):
        rounds.run()
    assert texts(receiver)[3].startswith("*20 events*")
    assert len(receiver.received) == 4


def test_a_flood_for_programs_stays_single_messages(
    receiver: HookReceiver, project: Project
) -> None:
    outbox.begin()
    WebhookFactory(url=receiver.url)
    fail(project, times=12)
    rounds.run()
    assert len(receiver.received) == 12


@pytest.fixture
def boss(client: Client) -> User:
    user = UserFactory(administrator=True)
    client.force_login(user)
    return user


def test_nobody_sees_the_address_again(client: Client, boss: User, project: Project) -> None:
    form = {
        "scope": f"project:{project.pk}",
        "format": "slack",
        "pending_minutes": "30",
        "name": "chat",
        "url": "https://hooks.slack.example.com/services/T0/B0/zanzibar",
        "events": ["*"],
    }
    made = client.post("/webhooks/new/", form)
    webhook = Webhook.objects.get()
    assert made["Location"] == webhook.get_absolute_url()
    for address in ("", "edit/"):
        page = client.get(f"/webhooks/{webhook.pk}/{address}").text
        assert "https://hooks.slack.example.com/***" in page
        assert "zanzibar" not in page
    shown = "https://hooks.slack.example.com/***"
    client.post(f"/webhooks/{webhook.pk}/edit/", form | {"name": "renamed", "url": shown})
    webhook.refresh_from_db()
    assert (webhook.name, webhook.url.endswith("zanzibar")) == ("renamed", True)
    assert client.post(f"/webhooks/{webhook.pk}/secret/").status_code == 404
