"""Create, change and delete people's own subscriptions, and mark their notifications as read."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import access
from accounts.models import User
from audit import services as audit
from core.broker import stream
from notifications import events
from notifications.delivery.outbox import NOTIFICATIONS
from notifications.models import Notification, NotificationQuerySet, Subscription, every_kind
from projects.models import Project
from workloads.history.events import person_channel

AUDITED_JSON = ("events", "kinds")
MOST_SUBSCRIPTIONS = 100  # of one person


def subscribe(
    *,
    by: User,
    project: Project | None,
    events: Iterable[str],
    kinds: Iterable[str],
    mail: bool,
    pending_minutes: int | None,
) -> Subscription:
    """Create a subscription of the user ``by``. ``ValidationError`` names the fields that are
    wrong."""
    if by.subscriptions.count() >= MOST_SUBSCRIPTIONS:
        raise ValidationError(f"You have {MOST_SUBSCRIPTIONS} subscriptions. Delete one first.")
    subscription = Subscription(user=by)
    _set_values(subscription, project, events, kinds, mail=mail, pending_minutes=pending_minutes)
    with transaction.atomic():
        subscription.save(force_insert=True)
        audit.record(by, "create", subscription, after=audit.facts(subscription, *AUDITED_JSON))
    return subscription


def change_subscription(
    subscription: Subscription,
    *,
    by: User,
    project: Project | None,
    events: Iterable[str],
    kinds: Iterable[str],
    mail: bool,
    pending_minutes: int | None,
) -> None:
    """Change one's own subscription. ``ValidationError`` names the fields that are wrong."""
    before = audit.facts(subscription, *AUDITED_JSON)
    _set_values(subscription, project, events, kinds, mail=mail, pending_minutes=pending_minutes)
    with transaction.atomic():
        subscription.save()
        after = audit.facts(subscription, *AUDITED_JSON)
        audit.record(by, "update", subscription, before=before, after=after)


def unsubscribe(subscription: Subscription, *, by: User) -> None:
    """Delete one's own subscription. The notifications stay."""
    with transaction.atomic():
        before = audit.facts(subscription, *AUDITED_JSON)
        audit.record(by, "delete", subscription, before=before)
        subscription.delete()


def mark_as_read(notifications: NotificationQuerySet, *, by: User) -> None:
    """Mark notifications of the user ``by`` as read, and tell their other pages."""
    with transaction.atomic():
        if notifications.filter(user=by, read_at=None).update(read_at=timezone.now()):
            transaction.on_commit(partial(stream.publish, person_channel(by.pk), NOTIFICATIONS))


def _set_values(
    subscription: Subscription,
    project: Project | None,
    names: Iterable[str],
    kinds: Iterable[str],
    *,
    mail: bool,
    pending_minutes: int | None,
) -> None:
    """Set and check the values. ``ValidationError`` names the fields that are wrong."""
    subscription.project = project
    subscription.events = events.sort_events(names)
    subscription.kinds = [kind for kind in every_kind() if kind in set(kinds)]
    subscription.mail = mail
    errors: dict[str, Any] = {}
    known = dict(events.personal_choices())
    unknown = [name for name in names if name not in known]
    if unknown:
        text = f"{unknown[0]} is not an event. Choose from {', '.join(known)}."
        errors["events"] = ValidationError(text, code="invalid_choice")
    unknown = [kind for kind in kinds if kind not in every_kind()]
    if unknown:
        text = f"{unknown[0]} is not a kind. Choose from {', '.join(every_kind())}."
        errors["kinds"] = ValidationError(text, code="invalid_choice")
    elif not subscription.kinds:
        errors["kinds"] = ValidationError("Choose at least one kind.", code="required")
    if project and not access.may(subscription.user, "workloads.read", *project.scope_keys):
        errors["project"] = ValidationError("Choose one of your projects.", code="invalid_choice")
    if mail and not subscription.user.email:
        text = "You have no email address. An administrator can add it under Users."
        errors["mail"] = ValidationError(text, code="invalid")
    if pending_minutes is not None:
        subscription.pending_minutes = pending_minutes
    try:
        subscription.full_clean(exclude=["events", "kinds", "project"])
    except ValidationError as error:
        errors |= error.error_dict
    if errors:
        raise ValidationError(errors)


def notifications_of(user: User) -> NotificationQuerySet:
    """Return what a user was told, the newest first."""
    rows: NotificationQuerySet = Notification.objects.visible_to(user)
    return rows.select_related("workload", "project", "cluster")
