"""Verbs about webhooks and subscriptions; see ``tests.audit.verbs``."""

from typing import Any

from notifications.channels import services as channels
from notifications.models import Delivery, MailServer, Webhook
from notifications.people import services as people
from notifications.webhooks import services as webhooks
from projects.scopes import OwningScope
from tests.audit.objects import SECRET, AuditedObjects, Verbs
from tests.notifications.factories import MailServerFactory, SubscriptionFactory, WebhookFactory

ASKED: dict[str, Any] = {
    "name": "chat",
    "url": f"https://example.com/?token={SECRET}",
    "events": ["*"],
    "pending_minutes": 30,
}


def _webhook() -> Webhook:
    return WebhookFactory(secret=f"whsec_{SECRET}")


def _delivery() -> Delivery:
    return Delivery.objects.create(webhook=_webhook(), type="workload.failed", body="{}")


CHOSEN: dict[str, Any] = {
    "project": None,
    "events": ["workload.failed"],
    "kinds": ["workspace"],
    "mail": False,
    "pending_minutes": 5,
}


def _mail_server() -> MailServer:
    return MailServerFactory(username="mail", password=SECRET)


def _delete_mail_server(s: AuditedObjects) -> None:
    _mail_server()
    channels.delete_mail_server(by=s.admin)


def _turn_mail_server_off(s: AuditedObjects) -> None:
    _mail_server()
    channels.turn_mail_server(by=s.admin, on=False)


_CHANNELS = "notifications.channels.services"
_PEOPLE = "notifications.people.services"
_WHERE = "notifications.webhooks.services"
HOOKS: Verbs = {
    f"{_CHANNELS}.save_mail_server": (
        "create mail server",
        lambda s: channels.save_mail_server(
            MailServerFactory.build(username="mail", password=SECRET), by=s.admin
        ),
    ),
    f"{_CHANNELS}.delete_mail_server": (
        "delete mail server",
        _delete_mail_server,
    ),
    f"{_CHANNELS}.turn_mail_server": (
        "update mail server",
        _turn_mail_server_off,
    ),
    f"{_CHANNELS}.send_test_mail": (
        "test mail server",
        lambda s: channels.send_test_mail(_mail_server(), by=s.admin, to=["ada@example.com"]),
    ),
    f"{_WHERE}.create": (
        "create webhook",
        lambda s: webhooks.create(by=s.admin, place=OwningScope(s.project), **ASKED),
    ),
    f"{_WHERE}.update": (
        "update webhook",
        lambda s: webhooks.update(_webhook(), by=s.admin, enabled=False, **ASKED),
    ),
    f"{_WHERE}.delete": ("delete webhook", lambda s: webhooks.delete(_webhook(), by=s.admin)),
    f"{_WHERE}.renew_secret": (
        "renew secret webhook",
        lambda s: webhooks.renew_secret(_webhook(), by=s.admin),
    ),
    f"{_WHERE}.send_test": ("test webhook", lambda s: webhooks.send_test(_webhook(), by=s.admin)),
    f"{_WHERE}.resend": ("resend webhook", lambda s: webhooks.resend(_delivery(), by=s.admin)),
    f"{_PEOPLE}.subscribe": (
        "create subscription",
        lambda s: people.subscribe(by=s.admin, **CHOSEN),
    ),
    f"{_PEOPLE}.change_subscription": (
        "update subscription",
        lambda s: people.change_subscription(
            SubscriptionFactory(user=s.admin), by=s.admin, **CHOSEN
        ),
    ),
    f"{_PEOPLE}.unsubscribe": (
        "delete subscription",
        lambda s: people.unsubscribe(SubscriptionFactory(user=s.admin), by=s.admin),
    ),
}
