"""Send people's notifications as emails.

One worker at a time does this, in a task of its own, so that a slow mail server delays nothing but
mail. A mail is claimed before it is sent, like a delivery of a webhook.

More than ten notifications of a person in five minutes become one mail: a digest. The next one
comes no sooner than five minutes later.
"""

import logging
import time
from collections.abc import Sequence
from datetime import timedelta

from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.db.models import F, QuerySet
from django.template.loader import render_to_string
from django.utils import timezone

from accounts.models import User
from core.broker import enqueue
from core.broker.lease import hold_lease
from notifications.delivery import mail_server
from notifications.delivery.outbox import MAIL
from notifications.delivery.results import DELAYS, KEPT_FOR
from notifications.messages import Message, link_to, message_of
from notifications.models import DeliveryState, Mail, Notification

log = logging.getLogger(__name__)

WINDOW = timedelta(minutes=5)
MOST_SINGLE = 10  # notifications of a person in the window that get a mail each
MOST_IN_DIGEST = 100  # further ones are only counted
SEND_SECONDS = 60.0  # for one mail, however slowly the server answers
LONGEST_SECONDS = 60.0  # then the clock calls again
LEASE_SECONDS = 90.0  # longer than sending one mail takes
CLAIM_DURATION = timedelta(seconds=120)
NO_SERVER = "There is no mail server any more."


def run() -> None:
    """Write the mails for new notifications, and send those that are due. Does nothing if another
    worker is sending."""
    with hold_lease("mails", seconds=LEASE_SECONDS) as extend:
        if extend is None:
            return
        enqueue.allow_next(MAIL, None)
        write_mails()
        end = time.monotonic() + LONGEST_SECONDS
        while time.monotonic() < end and extend():
            mail = _due_mails().first()
            if mail is None:
                return
            if _claim(mail) and not send_mail(mail):
                return  # the server does not answer; the clock calls again


def write_mails() -> None:
    """Write a mail for each notification that waits for one, or for all of a person together."""
    waiting = Notification.objects.filter(wants_mail=True, mail=None)
    for user in User.objects.filter(pk__in=waiting.values("user")):
        with transaction.atomic():
            _write_mails_to(user)


def _write_mails_to(user: User) -> None:
    waiting = Notification.objects.select_for_update().filter(user=user, wants_mail=True, mail=None)
    if not (user.email and mail_server.find_active_server()):  # any more
        waiting.update(wants_mail=False)
        return
    rows = list(waiting.order_by("at", "pk"))
    recent = Notification.objects.filter(user=user, mail__created_at__gt=timezone.now() - WINDOW)
    recent_count = recent.count()
    if recent_count + len(rows) <= MOST_SINGLE:
        for row in rows:
            _write_mail(user, row.title, [row])
    elif not recent_count:
        _write_mail(user, f"{len(rows)} notifications", rows)


def _write_mail(user: User, subject: str, rows: Sequence[Notification]) -> None:
    mail = Mail.objects.create(user=user, address=user.email, subject=f"[Trainyard] {subject}")
    Notification.objects.filter(pk__in=[row.pk for row in rows]).update(mail=mail)


def _due_mails() -> QuerySet[Mail]:
    rows = Mail.objects.filter(state=DeliveryState.PENDING, next_try_at__lte=timezone.now())
    return rows.select_related("user").order_by("next_try_at", "pk")


def _claim(mail: Mail) -> bool:
    """Claim a mail, so that no other worker sends it before the claim expires. Returns whether that
    succeeded."""
    until = timezone.now() + CLAIM_DURATION
    # The UPDATE only matches the row as it was read, so only one of two workers gets the claim.
    rows = Mail.objects.filter(pk=mail.pk, state=mail.state, next_try_at=mail.next_try_at)
    is_claimed = bool(rows.update(next_try_at=until, attempts=F("attempts") + 1))
    mail.attempts += 1
    return is_claimed


def send_mail(mail: Mail) -> bool:
    """Send a mail and record the result. Returns whether the server can be expected to take
    another one."""
    # Only what its person may see now.
    visible = Notification.objects.visible_to(mail.user).filter(mail=mail)
    rows = list(visible.select_related("workload__project", "project", "cluster"))
    if not rows or not mail.user.is_active:
        _record(
            mail, state=DeliveryState.FAILED, fault="Its person can no longer see what it is about."
        )
        return True
    server = mail_server.find_active_server()
    if server is None:
        _record(mail, state=DeliveryState.FAILED, fault=NO_SERVER)
        return True
    result = mail_server.send_email(email_of(mail, rows), server, SEND_SECONDS)
    if not result.fault:
        _record(mail, state=DeliveryState.DELIVERED, fault="")
        return True
    log.warning("Mail %s was not sent: %s", mail.pk, result.fault)
    if result.is_final or mail.attempts > len(DELAYS):
        _record(mail, state=DeliveryState.FAILED, fault=result.fault)
        return True
    next_try_at = timezone.now() + DELAYS[mail.attempts - 1]
    Mail.objects.filter(pk=mail.pk).update(
        next_try_at=next_try_at, fault=result.fault, sent_at=timezone.now()
    )
    return False


def email_of(mail: Mail, rows: Sequence[Notification]) -> EmailMultiAlternatives:
    """Return the email, as text and as HTML."""
    messages: list[Message] = [message_of(row) for row in rows[:MOST_IN_DIGEST]]
    context = {
        "messages": messages,
        "is_digest": len(rows) > 1,
        "further": len(rows) - len(messages),
        "every_link": link_to("/notifications/"),
        "settings_link": link_to("/notifications/settings/"),
    }
    email = EmailMultiAlternatives(
        subject=" ".join(mail.subject.split()),
        body=render_to_string("notifications/mail.txt", context),
        to=[mail.address],
        headers={"Auto-Submitted": "auto-generated"},  # so that no absence note comes back
    )
    email.attach_alternative(render_to_string("notifications/mail.html", context), "text/html")
    return email


def _record(mail: Mail, *, state: DeliveryState, fault: str) -> None:
    Mail.objects.filter(pk=mail.pk).update(
        state=state, fault=fault, sent_at=timezone.now(), next_try_at=None
    )


def prune() -> None:
    """Delete old notifications and mails."""
    oldest = timezone.now() - KEPT_FOR
    Notification.objects.filter(at__lt=oldest).delete()
    Mail.objects.filter(created_at__lt=oldest).delete()
