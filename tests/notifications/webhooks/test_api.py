"""REST: webhooks and their deliveries."""

from typing import Any

import pytest
from pytest_django import Settings

from accounts import tokens
from notifications.delivery import outbox, rounds
from notifications.models import UNSIGNED, Delivery, DeliveryState, Webhook
from projects.models import Project
from tests.caller import Caller
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory
from tests.notifications.factories import WebhookFactory
from tests.notifications.receiver import HookReceiver, answers
from workloads.history import events

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]


@pytest.fixture
def project() -> Project:
    return ProjectFactory(members=[UserFactory(username="ada")])


@pytest.fixture
def ada(project: Project) -> Caller:
    return Caller(project.members.get())


def new(project: Project, **also: Any) -> dict[str, Any]:
    url = "https://hooks.example.com/a"
    return {"name": "chat", "url": url, "scope": "project", "projectId": str(project.pk)} | also


def test_a_webhook_is_created_read_changed_and_deleted(ada: Caller, project: Project) -> None:
    status, made = ada("POST", "/webhooks", new(project, events=["workload.failed"]))
    webhook = Webhook.objects.get()
    assert (status, made["secret"]) == (201, webhook.secret)
    assert made["secret"].startswith("whsec_")
    assert (made["scope"], made["projectId"]) == ("project", str(project.pk))
    path = f"/webhooks/{webhook.pk}"
    shown = {key: value for key, value in made.items() if key != "secret"}
    assert ada("GET", path) == (200, shown)
    listed = shown | {"url": "https://hooks.example.com/***"}
    for filtered in ("name==chat", "url=$example.com/a", "url=@/A,name=^ch", "url!=https://b"):
        every = ada("GET", f"/webhooks?filterBy={filtered}")
        assert every == (200, {"webhooks": [listed], "next": None})
    change = {"events": ["*"], "pendingMinutes": 5, "enabled": False}
    status, changed = ada("PUT", path, change)
    assert (status, changed["events"], changed["enabled"]) == (200, ["*"], False)
    assert (made["pendingMinutes"], changed["pendingMinutes"]) == (30, 5)
    assert (changed["name"], changed["url"]) == (made["name"], made["url"])
    assert ada("DELETE", path)[0] == 204
    assert ada("GET", path)[0] == 404


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "a" * 64}, "name"),
        ({"url": "ftp://example.com"}, "url"),
        ({"url": ""}, "url"),
        ({"url": "http://169.254.169.254/latest"}, "url"),
        ({"events": []}, "events"),
        ({"pendingMinutes": 0}, "pendingMinutes"),
        ({"events": ["workload.exploded"]}, "events"),
        ({"projectId": None}, "projectId"),
        ({"projectId": "99999"}, "projectId"),
        ({"secret": "whsec_mine"}, "secret"),
    ],
)
def test_a_webhook_that_cannot_be_is_refused_by_its_field(
    change: dict[str, Any], field: str, ada: Caller, project: Project
) -> None:
    status, answer = ada("POST", "/webhooks", new(project, **change))
    assert (status, [it["field"] for it in answer["complianceIssues"]]) == (400, [field])
    assert not Webhook.objects.exists()


def test_users_who_may_change_a_webhook_see_and_find_its_path(
    project: Project,
) -> None:
    reader = project.members.get()
    reader.acting_key = tokens.make_key(reader, "reads", scopes=["webhooks.read"])[0]
    webhook = WebhookFactory(of_project=True, project=project)
    call = Caller(reader)
    secret = "/trainyard"
    assert secret in webhook.url
    for path in (f"/webhooks/{webhook.pk}", "/webhooks"):
        status, answer = call("GET", path)
        assert (status, secret in str(answer)) == (200, False)
        assert "https://hooks.example.com/***" in str(answer)
    for asked in ("filterBy=url=^https://hooks.example.com/t", "sortBy=url"):
        assert call("GET", f"/webhooks?{asked}") == (200, {"webhooks": [], "next": None})


def test_an_address_without_its_path_stands_for_the_stored_one(
    ada: Caller, project: Project
) -> None:
    """As it comes from a list, and goes back with a change."""
    webhook = WebhookFactory(of_project=True, project=project)
    shown = webhook.masked_url
    before = webhook.url
    path = f"/webhooks/{webhook.pk}"
    assert ada("PUT", path, {"url": shown, "name": "chat"})[1]["url"] == before
    webhook.refresh_from_db()
    assert (webhook.url, webhook.name) == (before, "chat")
    status, answer = ada("PUT", path, {"url": "https://elsewhere.example.com/***"})
    assert (status, "must be complete" in str(answer)) == (400, True)


def test_researchers_have_webhooks_in_their_projects_alone(ada: Caller, project: Project) -> None:
    other = WebhookFactory(of_project=True)
    account = WebhookFactory()
    for webhook in (other, account):
        assert ada("GET", f"/webhooks/{webhook.pk}")[0] == 404
        assert ada("DELETE", f"/webhooks/{webhook.pk}")[0] == 404
        assert ada("GET", f"/webhooks/{webhook.pk}/deliveries")[0] == 404
    assert ada("GET", "/webhooks")[1]["webhooks"] == []
    status, answer = ada("POST", "/webhooks", new(project, scope="tenant", projectId=None))
    assert (status, "webhooks.create" in answer["message"]) == (403, True)
    admin = Caller(UserFactory(administrator=True))
    assert len(admin("GET", "/webhooks")[1]["webhooks"]) == 2


def test_a_delivery_is_read_and_sent_again(
    ada: Caller, project: Project, receiver: HookReceiver
) -> None:
    outbox.begin()
    webhook = WebhookFactory(of_project=True, project=project, url=receiver.url)
    events.record_phase(WorkloadFactory(project=project, name="train", running=True))
    receiver.behave = answers(500, "no disk")
    rounds.run()
    path = f"/webhooks/{webhook.pk}/deliveries"
    (listed,) = ada("GET", f"{path}?filterBy=state==pending")[1]["deliveries"]
    assert (listed["subject"], listed["statusCode"], listed["attempts"]) == ("train", 500, 1)
    one = ada("GET", f"{path}/{listed['id']}")[1]
    assert (one["answer"], one["body"]) == ("no disk", receiver.received[0].body)
    receiver.behave = answers(204)
    status, again = ada("POST", f"{path}/{listed['id']}/resend")
    assert (status, again["state"]) == (202, "pending")
    rounds.run()
    first, second = receiver.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == listed["messageId"]
    assert ada("GET", f"{path}/{listed['id']}")[1]["state"] == "delivered"
    elsewhere = WebhookFactory(of_project=True, project=project)
    assert ada("GET", f"/webhooks/{elsewhere.pk}/deliveries/{listed['id']}")[0] == 404


def test_a_test_is_sent_to_a_webhook_that_is_off(
    ada: Caller, project: Project, receiver: HookReceiver
) -> None:
    webhook = WebhookFactory(of_project=True, project=project, url=receiver.url, enabled=False)
    status, sent = ada("POST", f"/webhooks/{webhook.pk}/test")
    assert (status, sent["type"], sent["state"]) == (202, "webhook.test", "pending")
    rounds.run()
    assert '"webhook.test"' in receiver.received[0].body
    assert Delivery.objects.get().state == DeliveryState.DELIVERED


def test_a_new_secret_replaces_the_old_one_which_counts_for_a_day(
    ada: Caller, project: Project
) -> None:
    webhook = WebhookFactory(of_project=True, project=project)
    status, renewed = ada("POST", f"/webhooks/{webhook.pk}/secret")
    old = webhook.secret
    webhook.refresh_from_db()
    assert (status, webhook.secrets) == (200, [renewed["secret"], old])


def test_a_webhook_that_is_turned_on_again_begins_anew(ada: Caller, project: Project) -> None:
    webhook = WebhookFactory(
        of_project=True, project=project, enabled=False, ended_because="It failed.", failures=9
    )
    workload = WorkloadFactory(project=project, running=True)
    events.record_phase(workload)
    status, changed = ada("PUT", f"/webhooks/{webhook.pk}", {"enabled": True})
    assert status == 200
    assert changed["status"] == {"failures": 0, "failingSince": None, "endedBecause": ""}
    events.record_phase(workload)
    outbox.create_deliveries()
    assert webhook.deliveries.count() == 1


def test_pending_messages_are_given_up_when_the_webhook_is_turned_off(
    ada: Caller, project: Project
) -> None:
    webhook = WebhookFactory(of_project=True, project=project)
    Delivery.objects.create(webhook=webhook, event=1, type="workload.failed", body="{}")
    ada("PUT", f"/webhooks/{webhook.pk}", {"enabled": False})
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.fault) == ("failed", "The webhook was turned off.")


def test_a_message_that_waits_for_a_secret_says_so(
    ada: Caller, project: Project, settings: Settings
) -> None:
    webhook = WebhookFactory(of_project=True, project=project)
    row = Delivery.objects.create(webhook=webhook, type="workload.failed", body="{}")
    settings.SECRET_KEY = "another"
    for path in ("deliveries", f"deliveries/{row.pk}"):
        _, shown = ada("GET", f"/webhooks/{webhook.pk}/{path}")
        said = shown["deliveries"][0] if path == "deliveries" else shown
        assert (said["state"], said["nextTryAt"], said["fault"]) == ("pending", None, UNSIGNED)
