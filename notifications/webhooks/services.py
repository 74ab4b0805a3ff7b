"""What people do with webhooks."""

from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import access
from accounts.models import User
from audit import services as audit
from core.broker import enqueue
from notifications.delivery import outbox, receivers, results
from notifications.models import Delivery, Webhook, new_secret
from notifications.webhooks import events
from projects.scopes import Place
from workloads.history.events import NOTIFY

OLD_SECRET_COUNTS = timedelta(hours=24)
#: What an edit changes: not the secrets, which are there to be read again once their key is back.
EDITED = (
    *("name", "url", "events", "enabled", "listens_since", "ended_because"),
    *("failures", "failing_since", "quiet_until", "updated_at"),
)
EVENTS = ("events",)  # the document among the columns that the audit log shows


def create(
    *, by: User, place: Place, name: str, url: str, events: list[str], enabled: bool = True
) -> Webhook:
    """``ValidationError`` names the fields that are wrong. The secret is in the answer."""
    _require(by, "webhooks.create", place.scope_keys)
    webhook = Webhook(name=name, url=url, events=events, enabled=False, created_by=by)
    webhook.put(place)
    _judge(webhook)
    with transaction.atomic():
        if enabled:
            _listen(webhook)
        webhook.save(force_insert=True)
        audit.record(by, "create", webhook, after=audit.facts(webhook, *EVENTS))
    return webhook


def update(
    webhook: Webhook, *, by: User, name: str, url: str, events: list[str], enabled: bool
) -> None:
    """One that is turned on again hears of what happens from then on."""
    _require(by, "webhooks.update", webhook.scope_keys)
    before = audit.facts(webhook, *EVENTS)
    webhook.name, webhook.url, webhook.events = name, url, events
    _judge(webhook)
    with transaction.atomic():
        if enabled and not webhook.enabled:
            _listen(webhook)
        elif webhook.enabled and not enabled:
            webhook.enabled = False
            results.give_up(webhook)
        webhook.save(update_fields=EDITED)
        audit.record(by, "update", webhook, before=before, after=audit.facts(webhook, *EVENTS))


def delete(webhook: Webhook, *, by: User) -> None:
    """With its deliveries."""
    _require(by, "webhooks.delete", webhook.scope_keys)
    with transaction.atomic():
        audit.record(by, "delete", webhook, before=audit.facts(webhook, *EVENTS))
        webhook.delete()


def renew_secret(webhook: Webhook, *, by: User) -> str:
    """A new one. For a day messages are signed with the old one as well, so that the receiver can
    be changed meanwhile."""
    _require(by, "webhooks.update", webhook.scope_keys)
    with transaction.atomic():
        webhook.old_secret, webhook.secret = webhook.secret, new_secret()
        webhook.old_secret_until = timezone.now() + OLD_SECRET_COUNTS
        webhook.save(update_fields=["secret", "old_secret", "old_secret_until", "updated_at"])
        audit.record(by, "renew secret", webhook)
        _wake()  # messages may have waited for it
    return webhook.secret


def send_test(webhook: Webhook, *, by: User) -> Delivery:
    """A message that says nothing, sent once, also where the webhook is off."""
    _require(by, "webhooks.update", webhook.scope_keys)
    now = timezone.now()
    with transaction.atomic():
        delivery = Delivery.objects.create(
            webhook=webhook,
            type=events.TEST,
            body=events.test_message(webhook, now),
            asked_by=by,
            next_try_at=now,
        )
        audit.record(by, "test", webhook)
        _wake()
    return delivery


def resend(delivery: Delivery, *, by: User) -> None:
    """The same message once more, now; where the webhook is on, as often as a new one."""
    webhook = delivery.webhook
    _require(by, "webhooks.update", webhook.scope_keys)
    with transaction.atomic():
        results.ask(delivery, by_id=by.pk)
        audit.record(by, "resend", webhook, after={"message": delivery.message_id})
        _wake()
    delivery.refresh_from_db()


def _require(by: User, action: str, scope_keys: tuple[str, ...]) -> None:
    """Messages tell of workloads, so only who may read these says where they go."""
    access.require(by, action, *scope_keys)
    access.require(by, "workloads.read", *scope_keys)


def _judge(webhook: Webhook) -> None:
    wrong: dict[str, Any] = {}
    webhook.name, webhook.url = webhook.name.strip(), webhook.url.strip()
    if webhook.url and (fault := receivers.fault_of(webhook.url)):
        wrong["url"] = ValidationError(f"The address {fault}.", code="invalid")
    if unknown := [it for it in webhook.events if it not in dict(events.choices())]:
        text = f"{unknown[0]} is not an event. Choose from {', '.join(dict(events.choices()))}."
        wrong["events"] = ValidationError(text, code="invalid_choice")
    elif not webhook.events:
        wrong["events"] = ValidationError("Choose at least one event.", code="required")
    webhook.events = events.in_order(webhook.events)
    try:
        unjudged = ["events", "secret", "old_secret", *(["url"] if "url" in wrong else [])]
        webhook.full_clean(exclude=unjudged)
    except ValidationError as error:
        wrong |= error.error_dict
    if wrong:
        raise ValidationError(wrong)


def _listen(webhook: Webhook) -> None:
    """From now on; what was wrong before does not count."""
    outbox.begin()
    webhook.enabled, webhook.listens_since, webhook.ended_because = True, timezone.now(), ""
    webhook.failures, webhook.failing_since, webhook.quiet_until = 0, None, None
    _wake()


def _wake() -> None:
    """Also where the worker said that nobody listens."""
    transaction.on_commit(lambda: enqueue.looked(NOTIFY, None))
    enqueue.send_once(NOTIFY, None, enqueue.PERIODIC)
