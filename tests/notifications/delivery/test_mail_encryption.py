"""Encrypted connections to a real mail server, and what is said about a wrong certificate."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.utils import timezone
from pytest_django import Settings

from notifications import tasks
from notifications.models import DeliveryState, Encryption, Mail
from tests.certificates import certificate
from tests.notifications.factories import MailServerFactory, NotificationFactory
from tests.notifications.mailbox import Mailbox, mail_server

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]
MODES = {Encryption.STARTTLS: False, Encryption.TLS: True}
StartServer = Callable[..., Mailbox]


@pytest.fixture
def start(tmp_path: Path, settings: Settings) -> Iterator[StartServer]:
    """Start a mail server with a certificate of its own, and save it as the mail server."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with ExitStack() as stack:

        def start_server(
            encryption: Encryption, *, host: str = "127.0.0.1", days: int = 1
        ) -> Mailbox:
            path, _ = certificate(tmp_path / "server.pem", host, days=days)
            mailbox = Mailbox(certificate=path, from_start=MODES[encryption], password="right")
            stack.enter_context(mail_server(mailbox))
            MailServerFactory(
                host="127.0.0.1",
                port=mailbox.port,
                encryption=encryption,
                username="trainyard",
                password="right",
            )
            return mailbox

        yield start_server


def trust(mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have this machine trust the certificate of the mail server."""
    monkeypatch.setenv("SSL_CERT_FILE", str(mailbox.certificate))


def send_one() -> Mail:
    NotificationFactory(wants_mail=True, workload__created_by__email="ada@example.com")
    tasks.send_mails()
    return Mail.objects.get()


@pytest.mark.parametrize("encryption", MODES)
def test_a_mail_arrives_encrypted(
    encryption: Encryption, start: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    mailbox = start(encryption)
    trust(mailbox, monkeypatch)
    assert send_one().fault == ""
    (email,) = mailbox.received
    assert (email["From"], email["To"]) == ("trainyard@example.com", "ada@example.com")


@pytest.mark.parametrize("encryption", MODES)
def test_a_certificate_that_nobody_trusts_is_told_and_tried_again(
    encryption: Encryption, start: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    mailbox = start(encryption)
    mail = send_one()
    assert mail.fault.startswith(
        "The certificate of the mail server 127.0.0.1 is not trusted: self-signed certificate."
    )
    assert (mail.state, mailbox.received) == (DeliveryState.PENDING, [])
    trust(mailbox, monkeypatch)
    with time_machine.travel(timezone.now() + timedelta(seconds=10), tick=True):
        tasks.send_mails()
    assert len(mailbox.received) == 1


def test_a_certificate_of_another_host_is_told(
    start: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust(start(Encryption.STARTTLS, host="127.0.0.2"), monkeypatch)
    assert "not trusted: IP address mismatch" in send_one().fault


def test_an_expired_certificate_is_told(
    start: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust(start(Encryption.TLS, days=-1), monkeypatch)
    assert "not trusted: certificate has expired" in send_one().fault


def test_the_wrong_encryption_is_told(settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with mail_server(Mailbox()) as plain:
        server = MailServerFactory(host="127.0.0.1", port=plain.port, encryption=Encryption.TLS)
        assert "Check its port" in send_one().fault
        server.encryption = Encryption.STARTTLS
        server.save()
        with time_machine.travel(timezone.now() + timedelta(seconds=10), tick=True):
            tasks.send_mails()
    assert "STARTTLS extension not supported" in Mail.objects.get().fault
    assert plain.received == []
