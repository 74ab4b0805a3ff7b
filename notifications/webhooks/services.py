"""What users do with webhooks. Each checks permissions and writes to the audit log."""

from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import access
from accounts.models import User
from audit import services as audit
from core.broker import enqueue
from notifications import events
from notifications.delivery import outbox, receivers, results
from notifications.models import Delivery, Webhook, new_secret
from projects.scopes import OwningScope
from workloads.history.events import NOTIFY

OLD_SECRET_LIFETIME = timedelta(hours=24)
#: The columns that an edit changes, and the address, if it changed. What is encrypted and stays is
#: not written: it becomes readable again when its encryption key is back.
EDITED_COLUMNS = (
    *("name", "events", "enabled", "listens_since", "ended_because"),
    *("failures", "failing_since", "quiet_until", "updated_at"),
)
AUDITED_JSON = ("events",)  # the JSON column that the audit log shows


def create(
    *, by: User, place: OwningScope, name: str, url: str, events: list[str], enabled: bool = True
) -> Webhook:
    """Create a webhook, with its secret. ``ValidationError`` names the fields that are wrong."""
    _require(by, "webhooks.create", place.scope_keys)
    webhook = Webhook(name=name, url=url, events=events, enabled=False, created_by=by)
    webhook.set_scope(place)
    _validate(webhook)
    with transaction.atomic():
        if enabled:
            _turn_on(webhook)
        webhook.save(force_insert=True)
        audit.record(by, "create", webhook, after=_facts(webhook))
    return webhook


def update(
    webhook: Webhook, *, by: User, name: str, url: str, events: list[str], enabled: bool
) -> None:
    """Change a webhook. One that is turned on again gets messages about what happens from
    then on. An address as it is shown, without its path, is the one that it has."""
    _require(by, "webhooks.update", webhook.scope_keys)
    before = _facts(webhook)
    old = webhook.url
    webhook.name = name
    webhook.events = events
    webhook.url = old if url.strip() == webhook.masked_url else url
    is_new = webhook.url != old
    _validate(webhook, is_new=is_new)
    with transaction.atomic():
        if enabled and not webhook.enabled:
            _turn_on(webhook)
        elif webhook.enabled and not enabled:
            webhook.enabled = False
            results.give_up(webhook)
        webhook.save(update_fields=[*EDITED_COLUMNS, *(["url"] if is_new else [])])
        after = _facts(webhook)
        if is_new and after["url"] == before["url"]:
            after["url"] = f"{webhook.masked_url} (another path)"
        audit.record(by, "update", webhook, before=before, after=after)


def delete(webhook: Webhook, *, by: User) -> None:
    """Delete a webhook and its deliveries."""
    _require(by, "webhooks.delete", webhook.scope_keys)
    with transaction.atomic():
        audit.record(by, "delete", webhook, before=_facts(webhook))
        webhook.delete()


def renew_secret(webhook: Webhook, *, by: User) -> str:
    """Return a new secret. For a day messages are also signed with the old one, so that the
    receiver can be changed in that time."""
    _require(by, "webhooks.update", webhook.scope_keys)
    with transaction.atomic():
        webhook.old_secret = webhook.secret
        webhook.secret = new_secret()
        webhook.old_secret_until = timezone.now() + OLD_SECRET_LIFETIME
        webhook.save(update_fields=["secret", "old_secret", "old_secret_until", "updated_at"])
        audit.record(by, "renew secret", webhook)
        _wake_worker()  # messages may have waited for a secret
    return webhook.secret


def send_test(webhook: Webhook, *, by: User) -> Delivery:
    """Send a test message, once, even if the webhook is off."""
    _require(by, "webhooks.update", webhook.scope_keys)
    now = timezone.now()
    with transaction.atomic():
        delivery = Delivery.objects.create(
            webhook=webhook,
            type=events.TEST,
            body=events.test_body(webhook, now),
            asked_by=by,
            next_try_at=now,
        )
        audit.record(by, "test", webhook)
        _wake_worker()
    return delivery


def resend(delivery: Delivery, *, by: User) -> None:
    """Send the same message again, now: with all attempts if the webhook is on, otherwise once."""
    webhook = delivery.webhook
    _require(by, "webhooks.update", webhook.scope_keys)
    with transaction.atomic():
        results.make_due(delivery, by_id=by.pk)
        audit.record(by, "resend", webhook, after={"message": delivery.message_id})
        _wake_worker()
    delivery.refresh_from_db()


def _facts(webhook: Webhook) -> dict[str, Any]:
    """What the audit log says of it: not the path of its address."""
    return audit.facts(webhook, *AUDITED_JSON) | {"url": webhook.masked_url}


def _require(by: User, action: str, scope_keys: tuple[str, ...]) -> None:
    """Require the action, and to read workloads, because messages contain them."""
    access.require(by, action, *scope_keys)
    access.require(by, "workloads.read", *scope_keys)


def _validate(webhook: Webhook, *, is_new: bool = True) -> None:
    """``ValidationError`` names what is wrong. Only a new address must be there: the other may be
    lost with its key."""
    wrong: dict[str, Any] = {}
    webhook.name = webhook.name.strip()
    webhook.url = webhook.url.strip()
    if webhook.url and (fault := receivers.url_fault(webhook.url)):
        wrong["url"] = ValidationError(f"The address {fault}.", code="invalid")
    if unknown := [it for it in webhook.events if it not in dict(events.choices())]:
        text = f"{unknown[0]} is not an event. Choose from {', '.join(dict(events.choices()))}."
        wrong["events"] = ValidationError(text, code="invalid_choice")
    elif not webhook.events:
        wrong["events"] = ValidationError("Choose at least one event.", code="required")
    webhook.events = events.sort_events(webhook.events)
    unjudged = ["events", "secret", "old_secret"]
    unjudged += ["url"] if "url" in wrong or not is_new else []
    try:
        webhook.full_clean(exclude=unjudged)
    except ValidationError as error:
        wrong |= error.error_dict
    if wrong:
        raise ValidationError(wrong)


def _turn_on(webhook: Webhook) -> None:
    """Start with what happens from now on, and forget earlier failures."""
    outbox.skip_earlier_events()
    webhook.enabled = True
    webhook.listens_since = timezone.now()
    webhook.ended_because = ""
    webhook.failures = 0
    webhook.failing_since = None
    webhook.quiet_until = None
    _wake_worker()


def _wake_worker() -> None:
    """Wake the worker, even if it has found that no webhook is on."""
    transaction.on_commit(lambda: enqueue.allow_next(NOTIFY, None))
    enqueue.send_once(NOTIFY, None, enqueue.PERIODIC)
