"""REST: the mail server and Slack as channels, their state, and tests of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from notifications.models import Encryption, MailServer, Webhook
from tests.caller import Caller
from tests.certificates import certificate
from tests.factories import UserFactory
from tests.notifications.factories import MailServerFactory, WebhookFactory
from tests.notifications.mailbox import Mailbox, mail_server
from tests.notifications.receiver import HookReceiver, answers

CONFIG: dict[str, Any] = {
    "smtpHost": "smtp.example.com",
    "from": "trainyard@example.com",
    "username": "trainyard",
    "password": "zanzibar",
}
EMAIL = {"type": "email", "config": CONFIG}
SLACK_ADDRESS = "https://hooks.slack.com/services/T0/B0/zanzibar"
SLACK = {"type": "slack", "config": {"apiToken": SLACK_ADDRESS}}


@pytest.fixture
def call(db: None) -> Caller:
    return Caller(UserFactory.create(administrator=True, email="boss@example.com"))


@pytest.fixture
def mailbox(settings: Settings) -> Iterator[Mailbox]:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with mail_server(Mailbox()) as server:
        yield server


def fields(answer: Any) -> list[str]:
    return [issue["field"] for issue in answer["complianceIssues"]]


def test_a_mail_server_is_saved_changed_and_deleted_and_its_password_never_shown(
    call: Caller,
) -> None:
    status, made = call("POST", "/notification-channels", EMAIL)
    assert (status, made["name"], made["config"]["encryption"]) == (201, "email", "starttls")
    assert call("GET", "/notification-channels")[1] == [{"name": "email", "type": "email"}]
    assert call("POST", "/notification-channels", EMAIL)[0] == 409
    change = {"config": {"fromDisplayName": "Cluster", "smtpPort": 465, "smtpTlsEnabled": True}}
    status, changed = call("PATCH", "/notification-channels/email", change)
    assert (status, changed["config"]["encryption"]) == (200, "tls")
    assert changed["config"]["from"] == "trainyard@example.com"
    server = MailServer.objects.get()
    assert (server.sender_name, server.password) == ("Cluster", "zanzibar")
    read = call("GET", "/notification-channels/email")[1]
    assert "zanzibar" not in f"{made}{changed}{read}"
    assert call("DELETE", "/notification-channels/email")[0] == 204
    assert call("GET", "/notification-channels/email")[0] == 404


def test_a_replacement_keeps_the_password_for_the_same_server_only(call: Caller) -> None:
    MailServerFactory(username="trainyard", password="zanzibar", sender_name="Cluster")
    without = {key: value for key, value in CONFIG.items() if key != "password"}
    body = {"type": "email", "config": without | {"smtpTlsEnabled": False}}
    assert call("PUT", "/notification-channels/email", body)[0] == 200
    server = MailServer.objects.get()
    assert (server.password, server.encryption) == ("zanzibar", Encryption.NONE)
    assert server.sender_name == "Trainyard"
    body["config"] = without | {"smtpHost": "elsewhere.example.com"}
    status, answer = call("PUT", "/notification-channels/email", body)
    assert (status, fields(answer)) == (400, ["config.password"])
    assert MailServer.objects.get().host == "smtp.example.com"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"smtpHost": ""}, "config.smtpHost"),
        ({"smtpHost": "mail server"}, "config.smtpHost"),
        ({"smtpPort": 70000}, "config.smtpPort"),
        ({"from": "nobody"}, "config.from"),
        ({"fromDisplayName": "two\nlines"}, "config.fromDisplayName"),
        ({"encryption": "rot13"}, "config.encryption"),
        ({"password": ""}, "config.password"),
        ({"recipients": ["team@example.com"]}, "config.recipients"),
        ({"directNotifications": False}, "config.directNotifications"),
        ({"useAttachments": True}, "config.useAttachments"),
        ({"subject": "Hello"}, "config.subject"),
        ({"apiToken": "xoxb-1"}, "config.apiToken"),
    ],
)
def test_a_wrong_field_of_a_mail_server_is_named(
    call: Caller, change: dict[str, Any], field: str
) -> None:
    body = {"type": "email", "config": CONFIG | change}
    status, answer = call("POST", "/notification-channels", body)
    assert (status, fields(answer)) == (400, [field])
    assert not MailServer.objects.exists()


def test_the_mail_server_of_the_environment_is_a_channel_until_one_is_saved(
    call: Caller, settings: Settings
) -> None:
    assert call("GET", "/notification-channels")[1] == []
    settings.EMAIL_HOST = "smtp.environment.example"
    settings.EMAIL_HOST_USER = "trainyard"
    settings.EMAIL_HOST_PASSWORD = "zanzibar"
    settings.DEFAULT_FROM_EMAIL = "Trainyard <trainyard@example.com>"
    config = call("GET", "/notification-channels/email")[1]["config"]
    assert (config["smtpHost"], config["from"]) == ("smtp.environment.example", CONFIG["from"])
    assert "zanzibar" not in str(config)
    status, answer = call("DELETE", "/notification-channels/email")
    assert (status, "EMAIL_HOST" in answer["message"]) == (409, True)
    assert call("PATCH", "/notification-state", {"email": {"enabled": False}})[0] == 409
    change = {"config": {"fromDisplayName": "Cluster"}}
    assert call("PATCH", "/notification-channels/email", change)[0] == 200
    assert MailServer.objects.get().password == "zanzibar"


def test_emails_and_slack_are_turned_off_and_on(call: Caller) -> None:
    MailServerFactory()
    hook = WebhookFactory(format="slack", url=SLACK_ADDRESS)
    off = {"email": {"enabled": False}, "slack": {"enabled": False}}
    status, state = call("PATCH", "/notification-state", {"enabled": True} | off)
    assert (status, state["email"]["enabled"], state["slack"]["enabled"]) == (200, False, False)
    assert call("GET", "/notification-state")[1] == state
    hook.refresh_from_db()
    assert (hook.enabled, MailServer.objects.get().enabled) == (False, False)
    _, state = call("PATCH", "/notification-state", {"slack": {"enabled": True}})
    assert (state["email"]["enabled"], state["slack"]["enabled"]) == (False, True)


def test_what_cannot_be_turned_on_or_off_is_refused_with_the_reason(call: Caller) -> None:
    status, answer = call("PATCH", "/notification-state", {"enabled": False})
    assert (status, fields(answer)) == (400, ["enabled"])
    for name in ("email", "slack"):
        status, answer = call("PATCH", "/notification-state", {name: {"enabled": True}})
        assert status == 409
    assert "webhook" in answer["message"]


def test_slack_is_a_webhook_of_the_account_whose_address_is_never_shown(call: Caller) -> None:
    status, made = call("POST", "/notification-channels", SLACK)
    assert (status, made["name"]) == (201, "slack")
    hook = Webhook.objects.get()
    assert (hook.format, hook.scope, hook.url) == ("slack", "account", SLACK_ADDRESS)
    assert "workload.failed" in hook.events
    another = {"config": {"apiToken": f"{SLACK_ADDRESS}-2"}}
    status, changed = call("PATCH", "/notification-channels/slack", another)
    hook.refresh_from_db()
    assert (status, hook.url) == (200, f"{SLACK_ADDRESS}-2")
    assert "zanzibar" not in f"{made}{changed}"
    assert call("DELETE", "/notification-channels/slack")[0] == 204
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"apiToken": "xoxb-1"}, "config.apiToken"),
        ({}, "config.apiToken"),
        ({"apiToken": SLACK_ADDRESS, "recipients": ["#gpu"]}, "config.recipients"),
        ({"apiToken": SLACK_ADDRESS, "directNotifications": True}, "config.directNotifications"),
    ],
)
def test_a_token_of_a_slack_app_is_refused_in_words(
    call: Caller, config: dict[str, Any], field: str
) -> None:
    status, answer = call("POST", "/notification-channels", {"type": "slack", "config": config})
    assert (status, fields(answer)) == (400, [field])
    assert "incoming webhook" in answer["details"].lower()


def test_a_channel_keeps_its_type(call: Caller) -> None:
    MailServerFactory()
    status, answer = call("PUT", "/notification-channels/email", SLACK)
    assert (status, fields(answer)) == (400, ["type"])


def test_a_test_mail_is_sent_to_its_recipients_or_the_caller_and_nothing_is_saved(
    call: Caller, mailbox: Mailbox
) -> None:
    config = {
        "smtpHost": "127.0.0.1",
        "smtpPort": mailbox.port,
        "smtpTlsEnabled": False,
        "from": "trainyard@example.com",
    }
    for more in ({}, {"recipients": ["ada@example.com"]}):
        body = {"type": "email", "config": config | more}
        assert call("POST", "/validate-notification-channel", body)[0] == 204
    assert [email["To"] for email in mailbox.received] == ["boss@example.com", "ada@example.com"]
    assert not MailServer.objects.exists()
    mailbox.answer = "554 No such person"
    status, answer = call("POST", "/validate-notification-channel", body)
    assert (status, "554 No such person" in answer["details"]) == (400, True)


def test_a_wrong_certificate_is_told_to_who_tests(
    call: Caller, settings: Settings, tmp_path: Path
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    path, _ = certificate(tmp_path / "server.pem")
    with mail_server(Mailbox(certificate=path, from_start=True)) as server:
        config = {
            "smtpHost": "127.0.0.1",
            "smtpPort": server.port,
            "encryption": "tls",
            "from": "trainyard@example.com",
        }
        body = {"type": "email", "config": config}
        status, answer = call("POST", "/validate-notification-channel", body)
    assert (status, fields(answer)) == (400, ["config"])
    assert "certificate of the mail server 127.0.0.1 is not trusted" in answer["details"]


def test_a_test_of_slack_posts_a_message(call: Caller, receiver: HookReceiver) -> None:
    body = {"type": "slack", "config": {"apiToken": receiver.url}}
    assert call("POST", "/validate-notification-channel", body)[0] == 204
    (message,) = receiver.received
    assert "Trainyard" in message.body
    receiver.behave = answers(404)
    status, answer = call("POST", "/validate-notification-channel", body)
    assert (status, "404" in answer["details"]) == (400, True)
