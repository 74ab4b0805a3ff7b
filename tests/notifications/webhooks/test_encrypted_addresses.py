"""Addresses of webhooks, whose paths may be secrets, are encrypted in the database."""

import pytest
from django.db import connection
from pytest_django import Settings

from core.database import rotation
from notifications.models import UNADDRESSED, Webhook
from notifications.webhooks import services
from projects.models import Project
from tests.caller import Caller
from tests.factories import ProjectFactory, UserFactory
from tests.notifications.factories import WebhookFactory
from tests.web import signed_in

SECRET = "T0C4N/xoxb-nobody-reads"
URL = f"https://hooks.example.com/{SECRET}"
BEFORE = "0003_hidden_paths"
AFTER = "0004_encrypted_addresses"


@pytest.fixture
def project(valkey: object) -> Project:
    return ProjectFactory.create(members=[UserFactory.create()])


def stored() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT url FROM notifications_webhook")
        return str(cursor.fetchone()[0])


@pytest.mark.django_db
def test_an_address_cannot_be_read_in_the_database(settings: Settings) -> None:
    WebhookFactory(url=URL)
    assert "example" not in stored()
    assert Webhook.objects.get().url == URL
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "a new key"
    assert rotation.reencrypt_all().rewritten == 2, "the secret and the address"
    settings.SECRET_KEY_FALLBACKS = []
    assert Webhook.objects.get().url == URL


@pytest.mark.django_db
def test_lists_are_filtered_and_sorted_by_it(project: Project) -> None:
    call = Caller(project.members.get())
    for name, url in (("b", "https://a.example.com/x"), ("a", "https://b.example.com/y")):
        WebhookFactory(of_project=True, project=project, name=name, url=url)

    def names(query: str) -> list[str]:
        return [it["name"] for it in call("GET", f"/webhooks?{query}")[1]["webhooks"]]

    assert names("sortBy=url") == ["b", "a"]
    assert names("sortBy=url&sortOrder=desc&limit=1") == ["a"]
    assert names("filterBy=url==https://a.example.com/x") == ["b"]
    assert names("filterBy=url=@EXAMPLE,name=^A") == ["a"]
    assert names("filterBy=url=@example&search=B") == ["b"]
    assert names("filterBy=url=^https://a,scope==project") == ["b"]


@pytest.mark.django_db
def test_an_address_that_no_key_reads_is_told_and_entered_again(
    project: Project, settings: Settings
) -> None:
    by = project.members.get()
    WebhookFactory(of_project=True, project=project, url=URL)
    settings.SECRET_KEY = "another"
    services.renew_secret(Webhook.objects.get(), by=by)
    webhook = Webhook.objects.get()
    browser = signed_in(by)
    assert (webhook.lost_reason, webhook.masked_url) == (UNADDRESSED, "")
    assert "Address lost" in browser.get("/webhooks/").content.decode()
    assert "Its address is lost" in browser.get(webhook.get_absolute_url()).content.decode()
    call = Caller(by)
    path = f"/webhooks/{webhook.pk}"
    assert call("PUT", path, {"enabled": False})[0] == 200
    assert call("PUT", path, {"url": URL})[1]["url"] == URL
    assert Webhook.objects.get().lost_reason == ""


@pytest.mark.django_db
def test_an_empty_address_is_not_one(project: Project) -> None:
    webhook = WebhookFactory(of_project=True, project=project, url=URL)
    call = Caller(project.members.get())
    status, answer = call("PUT", f"/webhooks/{webhook.pk}", {"url": ""})
    assert (status, answer["complianceIssues"][0]["field"]) == (400, "url")
    assert Webhook.objects.get().url == URL
