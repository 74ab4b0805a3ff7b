"""Create, change and test webhooks. Each function checks permissions and writes to the audit
log."""

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
from notifications.models import DEFAULT_WAIT, Delivery, MessageFormat, Webhook, new_secret
from projects.scopes import OwningScope
from workloads.history.events import NOTIFY

OLD_SECRET_LIFETIME = timedelta(hours=24)
#: The columns that an edit writes. The address is only written if it changed, and the secret never,
#: so that they become readable again if their lost encryption key comes back.
EDITED_COLUMNS = (
    *("name", "events", "pending_minutes", "enabled", "listens_since", "ended_because"),
    *("failures", "failing_since", "quiet_until", "updated_at"),
)
AUDITED_JSON = ("events",)  # the JSON column that the audit log shows


def create(
    *,
    by: User,
    place: OwningScope,
    name: str,
    url: str,
    events: list[str],
    pending_minutes: int = DEFAULT_WAIT,
    enabled: bool = True,
    format: str = MessageFormat.SIGNED,
) -> Webhook:
    """Create a webhook with a secret. ``ValidationError`` names the fields that are wrong."""
    _require(by, "webhooks.create", place.scope_keys)
    webhook = Webhook(
        name=name,
        url=url,
        events=events,
        pending_minutes=pending_minutes,
        format=format,
        enabled=False,
        created_by=by,
    )
    webhook.set_scope(place)
    _validate(webhook)
    with transaction.atomic():
        if enabled:
            _turn_on(webhook)
        webhook.save(force_insert=True)
        audit.record(by, "create", webhook, after=_facts(webhook))
    return webhook


def update(
    webhook: Webhook,
    *,
    by: User,
    name: str,
    url: str,
    events: list[str],
    pending_minutes: int,
    enabled: bool,
) -> None:
    """Change a webhook. If it is turned on again, it gets messages about later events only. ``url``
    may be the address without its path, as pages show it: then the address stays.
    ``ValidationError`` names the fields that are wrong."""
    _require(by, "webhooks.update", webhook.scope_keys)
    before = _facts(webhook)
    old_url = webhook.url
    webhook.name = name
    webhook.events = events
    webhook.pending_minutes = pending_minutes
    webhook.url = old_url if url.strip() == webhook.masked_url else url
    is_new = webhook.url != old_url
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
    """Create a new secret and return it. For a day messages are also signed with the old one, so
    that there is time to change the receiver."""
    _require(by, "webhooks.update", webhook.scope_keys)
    if webhook.is_slack:
        raise ValidationError("Messages to Slack are not signed, so there is no secret.")
    with transaction.atomic():
        webhook.old_secret = webhook.secret
        webhook.secret = new_secret()
        webhook.old_secret_until = timezone.now() + OLD_SECRET_LIFETIME
        webhook.save(update_fields=["secret", "old_secret", "old_secret_until", "updated_at"])
        audit.record(by, "renew secret", webhook)
        _wake_worker()  # messages may have waited for a secret
    return webhook.secret


def send_test(webhook: Webhook, *, by: User) -> Delivery:
    """Send a test message once, even if the webhook is off."""
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
    """Send the same message again now, with all attempts if the webhook is on, and once if it is
    off."""
    webhook = delivery.webhook
    _require(by, "webhooks.update", webhook.scope_keys)
    with transaction.atomic():
        results.make_due(delivery, by_id=by.pk)
        audit.record(by, "resend", webhook, after={"message": delivery.message_id})
        _wake_worker()
    delivery.refresh_from_db()


def _facts(webhook: Webhook) -> dict[str, Any]:
    """Return the columns for the audit log, without the path of the address."""
    return audit.facts(webhook, *AUDITED_JSON) | {"url": webhook.masked_url}


def _require(by: User, action: str, scope_keys: tuple[str, ...]) -> None:
    """Require the permission for the action, and that to read workloads, because messages contain
    their names and states."""
    access.require(by, action, *scope_keys)
    access.require(by, "workloads.read", *scope_keys)


def _validate(webhook: Webhook, *, is_new: bool = True) -> None:
    """Check the values and tidy them. ``ValidationError`` names the fields that are wrong. An
    address is required only if it ``is_new``: the stored one may be lost with its key."""
    errors: dict[str, Any] = {}
    webhook.name = webhook.name.strip()
    webhook.url = webhook.url.strip()
    fault = receivers.url_fault(webhook.url) if webhook.url else ""
    if fault:
        errors["url"] = ValidationError(f"The address {fault}.", code="invalid")
    known = dict(events.choices())
    unknown = [name for name in webhook.events if name not in known]
    if unknown:
        text = f"{unknown[0]} is not an event. Choose from {', '.join(known)}."
        errors["events"] = ValidationError(text, code="invalid_choice")
    elif not webhook.events:
        errors["events"] = ValidationError("Choose at least one event.", code="required")
    webhook.events = events.sort_events(webhook.events)
    unchecked = ["events", "secret", "old_secret"]
    if "url" in errors or not is_new:
        unchecked.append("url")
    try:
        webhook.full_clean(exclude=unchecked)
    except ValidationError as error:
        errors |= error.error_dict
    if errors:
        raise ValidationError(errors)


def _turn_on(webhook: Webhook) -> None:
    """Turn a webhook on for later events, and forget earlier failures."""
    outbox.begin()
    webhook.enabled = True
    webhook.listens_since = timezone.now()
    webhook.ended_because = ""
    webhook.failures = 0
    webhook.failing_since = None
    webhook.quiet_until = None
    _wake_worker()


def _wake_worker() -> None:
    """Wake the worker after the commit."""
    enqueue.send_once(NOTIFY, None, enqueue.PERIODIC)
