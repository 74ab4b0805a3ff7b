"""Webhooks by name: created, tested, and what became of each message."""

import json

import pytest

from notifications.delivery import results, rounds
from notifications.delivery.post import HookAnswer
from notifications.models import Delivery, Webhook
from projects.models import Project
from tests.trainyard_cli.terminal import Terminal

ADDRESS = "https://hooks.example.com/a"
BROKEN = HookAnswer(500, "oops", "The receiver answered 500.", 12)

pytestmark = pytest.mark.usefixtures("valkey")


def test_a_webhook_is_created_tested_and_its_messages_are_sent_again(
    terminal: Terminal, project: Project
) -> None:
    create = f"webhook create ci --url {ADDRESS} --event workload.failed --pending-minutes 5"
    made = terminal(create)
    webhook = Webhook.objects.get()
    assert made.out.strip() == webhook.secret
    assert (webhook.project, webhook.events) == (project, ["workload.failed"])
    assert webhook.pending_minutes == 5
    shown = "https://hooks.example.com/***"
    assert terminal("webhook list --no-headers").rows[0][:3] == ["ci", shown, "workload.failed"]
    terminal("webhook test ci")
    message = Delivery.objects.get()
    assert rounds.claim(message)
    results.record(message, BROKEN)
    (listed,) = terminal("webhook deliveries ci --state failed --no-headers").rows
    assert listed[:2] == [str(message.pk), "webhook.test"]
    shown = terminal(f"webhook delivery ci {message.pk}").out
    assert "The receiver answered 500." in shown
    terminal(f"webhook resend ci {message.pk}")
    (again,) = json.loads(terminal("webhook deliveries ci -o json").out)
    assert again["state"] == "pending"
    terminal("webhook delete ci")
    assert terminal("webhook test ci", code=4).err.endswith("trainyard webhook list\n")


def test_a_webhook_that_is_refused_names_its_wrong_fields(terminal: Terminal) -> None:
    wrong = terminal("webhook create ci --url nowhere --event none", code=1)
    assert "url" in wrong.err
    assert "events" in wrong.err
