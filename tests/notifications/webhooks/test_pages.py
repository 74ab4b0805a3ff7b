"""The pages of webhooks."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, Settings

from notifications.models import Delivery, Webhook
from projects.models import Project
from tests.factories import ProjectFactory, UserFactory
from tests.notifications.factories import WebhookFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]


@pytest.fixture
def project() -> Project:
    return ProjectFactory(members=[UserFactory(username="ada")])


@pytest.fixture
def ada(project: Project) -> Client:
    client = Client()
    client.force_login(project.members.get())
    return client


@pytest.fixture
def webhook(project: Project) -> Webhook:
    return WebhookFactory(of_project=True, project=project, name="chat")


def delivered(webhook: Webhook, **values: object) -> Delivery:
    given = {"type": "workload.failed", "subject": "train", "body": '{"a": 1}'} | values
    return Delivery.objects.create(webhook=webhook, **given)


def test_a_new_webhook_shows_its_secret_once(ada: Client, project: Project) -> None:
    form = {
        "scope": f"project:{project.pk}",
        "format": "signed",
        "name": "chat",
        "url": "https://example.com/hook",
        "events": ["workload.failed", "workload.completed"],
        "pending_minutes": "30",
    }
    response = ada.post(reverse("webhook-create"), form)
    webhook = Webhook.objects.get()
    assert webhook.secret in response.text
    assert response["Cache-Control"] == "no-store"
    assert webhook.events == ["workload.completed", "workload.failed"]
    for name in ("webhook-detail", "webhook-edit", "webhook-secret"):
        page = ada.get(reverse(name, args=[webhook.pk])).text
        assert webhook.secret not in page
        assert ("example.com/hook" in page) is (name == "webhook-edit")
    assert "https://example.com/***" in ada.get(reverse("webhook-list")).text


def test_a_form_with_faults_says_them_at_their_fields(ada: Client, project: Project) -> None:
    form = {"scope": f"project:{project.pk}", "format": "signed", "name": ""}
    form["url"] = "http://127.0.0.1/"
    response = ada.post(reverse("webhook-create"), form)
    assert response.status_code == 422
    for text in (
        "Name is required.",
        "is not a public address",
        "Choose at least one event.",
    ):
        assert text in response.text


def test_a_webhook_of_another_project_cannot_be_made(ada: Client) -> None:
    other = ProjectFactory()
    form = {"scope": f"project:{other.pk}", "name": "a", "url": "https://example.com/"}
    assert ada.post(reverse("webhook-create"), form).status_code == 422
    assert not Webhook.objects.exists()


def test_the_list_takes_the_same_queries_for_many(
    ada: Client, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for webhook in WebhookFactory.create_batch(20, of_project=True, project=project):
        delivered(webhook)
    with django_assert_max_num_queries(6):
        page = ada.get(reverse("webhook-list")).text
    assert page.count("Project team-") == 20


def test_the_page_of_a_webhook_takes_the_same_queries_for_many_deliveries(
    ada: Client, webhook: Webhook, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(30):
        delivered(webhook, event=number)
    with django_assert_max_num_queries(7):
        page = ada.get(webhook.get_absolute_url()).text
    assert page.count("workload.failed") == 2 * 20, "the label of its button too"


def test_a_webhook_that_was_turned_off_says_why(ada: Client, webhook: Webhook) -> None:
    Webhook.objects.update(enabled=False, ended_because="No message was delivered for 3 days.")
    page = ada.get(webhook.get_absolute_url()).text
    assert "Trainyard turned it off" in page
    assert "No message was delivered for 3 days." in page
    form = {
        "name": "chat",
        "url": webhook.url,
        "events": ["*"],
        "pending_minutes": "10",
        "enabled": "on",
    }
    assert ada.post(reverse("webhook-edit", args=[webhook.pk]), form).status_code == 302
    page = ada.get(webhook.get_absolute_url()).text
    assert "Trainyard turned it off" not in page
    assert "After 10 minutes" in page


def test_a_delivery_shows_message_answer_and_fault(ada: Client, webhook: Webhook) -> None:
    answered = {"status_code": 500, "answer": "<no disk>", "fault": "The receiver answered 500."}
    delivery = delivered(webhook, state="failed", attempts=8, **answered)
    address = reverse("webhook-delivery", args=[webhook.pk, delivery.pk])
    for headers in ({}, {"HX-Request": "true", "HX-Target": "drawer"}):
        page = ada.get(address, headers=headers).text
        for text in (delivery.message_id, "&lt;no disk&gt;", "The receiver answered 500."):
            assert text in page


def test_a_failed_delivery_is_sent_again_by_its_button(ada: Client, webhook: Webhook) -> None:
    delivery = delivered(webhook, state="failed", next_try_at=None, attempts=8)
    address = reverse("webhook-resend", args=[webhook.pk, delivery.pk])
    assert address in ada.get(webhook.get_absolute_url()).text
    assert ada.post(address)["Location"] == webhook.get_absolute_url()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("pending", 0)
    assert Delivery.objects.due().get() == delivery


def test_a_test_is_asked_for_and_the_webhook_deleted(ada: Client, webhook: Webhook) -> None:
    ada.post(reverse("webhook-test", args=[webhook.pk]))
    assert webhook.deliveries.get().type == "webhook.test"
    assert ada.post(reverse("webhook-delete", args=[webhook.pk])).status_code == 302
    assert not Webhook.objects.exists()


def test_a_new_secret_is_shown_once(ada: Client, webhook: Webhook) -> None:
    old = webhook.secret
    page = ada.post(reverse("webhook-secret", args=[webhook.pk])).text
    webhook.refresh_from_db()
    assert webhook.secret != old
    assert webhook.secret in page


def test_a_secret_that_no_key_reads_takes_no_page_down(
    webhook: Webhook, project: Project, settings: Settings
) -> None:
    message = delivered(webhook)
    client = Client()
    settings.SECRET_KEY = "another"
    client.force_login(project.members.get())
    pages = [reverse(name, args=[webhook.pk]) for name in ("webhook-detail", "webhook-edit")]
    one = reverse("webhook-delivery", args=[webhook.pk, message.pk])
    for page in (reverse("webhook-list"), *pages, one):
        assert "chat" in client.get(page).text
    shown = client.get(pages[0]).text
    for words in ("Its secret is lost", "Secret lost", "Once the webhook is edited"):
        assert words in shown
    assert "Once the webhook is edited" in client.get(one).text
