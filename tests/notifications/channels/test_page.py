"""The page of the mail server."""

from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django import Settings

from notifications.models import Encryption, MailServer
from tests.factories import UserFactory
from tests.notifications.factories import MailServerFactory
from tests.notifications.mailbox import Mailbox, mail_server

PAGE = "/mail-server/"
VALUES = {
    "host": "smtp.example.com",
    "port": "587",
    "encryption": "starttls",
    "username": "trainyard",
    "password": "zanzibar",
    "sender": "trainyard@example.com",
    "sender_name": "Trainyard",
    "enabled": "on",
}


@pytest.fixture
def boss(db: None, client: Client) -> Client:
    client.force_login(UserFactory.create(administrator=True, email="boss@example.com"))
    return client


@pytest.fixture
def mailbox(settings: Settings) -> Iterator[Mailbox]:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with mail_server(Mailbox()) as server:
        yield server


def test_a_mail_server_is_saved_and_its_password_never_shown(boss: Client) -> None:
    assert boss.post(PAGE, VALUES).status_code == 302
    server = MailServer.objects.get()
    assert (server.password, server.enabled) == ("zanzibar", True)
    html = boss.get(PAGE).content.decode()
    assert "smtp.example.com" in html
    assert "zanzibar" not in html
    assert "Empty: the present one stays" in html
    boss.post(PAGE, VALUES | {"password": "", "encryption": "tls", "enabled": ""})
    server.refresh_from_db()
    assert (server.password, server.encryption) == ("zanzibar", Encryption.TLS)


def test_a_wrong_value_is_told_at_its_field(boss: Client) -> None:
    response = boss.post(PAGE, VALUES | {"port": "many", "sender": ""})
    assert response.status_code == 422
    form = response.context["form"]
    assert set(form.errors) == {"port", "sender"}
    assert not MailServer.objects.exists()


def test_a_test_mail_goes_to_who_asks_and_saves_nothing(boss: Client, mailbox: Mailbox) -> None:
    values = VALUES | {
        "host": "127.0.0.1",
        "port": str(mailbox.port),
        "encryption": "none",
        "username": "",
        "test": "yes",
    }
    html = boss.post(PAGE, values).content.decode()
    assert "took the test mail" in html
    (email,) = mailbox.received
    assert (email["To"], email["Subject"]) == ("boss@example.com", "[Trainyard] Test mail")
    mailbox.answer = "554 No such person"
    assert "554 No such person" in boss.post(PAGE, values).content.decode()
    assert not MailServer.objects.exists()


def test_without_an_address_no_test_mail_is_sent(client: Client, db: None) -> None:
    client.force_login(UserFactory.create(administrator=True, email=""))
    response = client.post(PAGE, VALUES | {"test": "yes"})
    assert "You have no email address." in response.content.decode()


def test_the_environments_server_is_shown_and_cannot_be_deleted(
    boss: Client, settings: Settings
) -> None:
    settings.EMAIL_HOST = "smtp.environment.example"
    html = boss.get(PAGE).content.decode()
    assert "smtp.environment.example" in html
    assert "Set by the environment" in html
    assert "EMAIL_HOST" in boss.get(f"{PAGE}delete/").content.decode()
    MailServerFactory()
    boss.post(f"{PAGE}delete/")
    assert not MailServer.objects.exists()
