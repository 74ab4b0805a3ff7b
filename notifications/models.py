"""Webhooks and their deliveries; people's subscriptions, notifications and mails; and the position
up to which events were turned into deliveries and notifications."""

import json
import secrets
from base64 import b64encode
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit
from uuid import uuid4

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from accounts import access
from accounts.models import User
from clusters.models import Cluster
from core.database.choices import Choices
from core.database.fields import (
    CleanedCharField,
    CleanedJSONField,
    CleanedTextField,
    RenewableTextField,
)
from projects.models import Project
from projects.scopes import Scoped, editable_scopes
from spec.kind import WorkloadKind
from spec.values.variable import MASK
from workloads.models import Workload

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

SECRET_PREFIX = "whsec_"  # noqa: S105 -- how secrets of Standard Webhooks begin
SECRET_BYTES = 32
LONGEST_ANSWER = 1024  # characters of an answer that are kept
UNADDRESSED = (
    "The address was encrypted with a key that this Trainyard no longer has. Enter it again."
)
UNSIGNED = "The secret was encrypted with a key that this Trainyard no longer has. Get a new one."
SHORTEST_WAIT = 1  # minute
LONGEST_WAIT = 7 * 24 * 60  # minutes
DEFAULT_WAIT = 30  # minutes
WAIT_LIMITS = (MinValueValidator(SHORTEST_WAIT), MaxValueValidator(LONGEST_WAIT))
LONGEST_BODY = 128 * 1024  # room for the longest message of an event, however it is escaped


def new_secret() -> str:
    return SECRET_PREFIX + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


class MessageFormat(models.TextChoices):
    """How the messages of a webhook look."""

    SIGNED = "signed", "Signed JSON, for programs"
    SLACK = "slack", "Slack, for an incoming webhook"


def formats() -> Choices:
    return MessageFormat.choices


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def open_to(self, user: User, action: str) -> Self:
        """Webhooks in whose scope the user may perform this action."""
        return self.filter(editable_scopes(user, action))

    def visible_to(self, user: User) -> Self:
        return self.open_to(user, self.model.permission("read"))

    def for_list(self) -> Self:
        return self.select_related("cluster", "department", "project", "created_by")


class Webhook(Scoped):
    """A URL that gets messages about the workloads of its scope.

    ``events`` are types of events, or ``*`` for all. A workload counts as pending for long after
    ``pending_minutes``. Until ``old_secret_until`` messages are also
    signed with the previous secret. ``failures`` is the number of failures since the last success;
    the first of them was at ``failing_since``. Nothing is sent before ``quiet_until``.
    ``ended_because`` says why Trainyard turned the webhook off. Messages for Slack are not signed,
    and its address is the secret: nobody sees it again.
    """

    RESOURCE = "webhooks"

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    name = models.CharField(max_length=63)
    format = models.CharField(max_length=10, choices=formats, default=MessageFormat.SIGNED)
    url = RenewableTextField("address")
    events = models.JSONField(default=list)
    pending_minutes = models.PositiveIntegerField(default=DEFAULT_WAIT, validators=WAIT_LIMITS)
    enabled = models.BooleanField(default=True)
    secret = RenewableTextField(default=new_secret)
    old_secret = RenewableTextField(blank=True)
    old_secret_until = models.DateTimeField(null=True, blank=True)
    listens_since = models.DateTimeField(default=timezone.now)
    failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True, blank=True)
    quiet_until = models.DateTimeField(null=True, blank=True)
    ended_because = CleanedCharField(max_length=500, blank=True)
    created_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = WebhookQuerySet.as_manager()

    if TYPE_CHECKING:
        deliveries: RelatedManager["Delivery"]

    class Meta:
        ordering = ["name", "created_at"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("webhook-detail", args=[self.pk])

    @property
    def masked_url(self) -> str:
        """The address without its path, for everyone to see. Chats and other receivers use the path
        as a password. Empty if the address cannot be decrypted."""
        parts = urlsplit(self.url)
        has_path = parts.path.strip("/") or parts.query
        return f"{parts.scheme}://{parts.netloc}/{MASK}" if has_path else self.url

    @property
    def editable_url(self) -> str:
        """The address as those see it who may change it: whole, unless it is a secret."""
        return self.masked_url if self.is_slack else self.url

    @property
    def is_slack(self) -> bool:
        return self.format == MessageFormat.SLACK

    @property
    def secrets(self) -> list[str]:
        """The valid secrets, the newest first; none if they cannot be decrypted."""
        until = self.old_secret_until
        is_old_valid = until is not None and until > timezone.now()
        return list(filter(None, [self.secret, self.old_secret if is_old_valid else ""]))

    @property
    def lost_reason(self) -> str:
        """Why nothing can be sent: the key that encrypted the secret or the address is lost. Empty
        if both can be decrypted."""
        if not self.secrets and not self.is_slack:
            return UNSIGNED
        return "" if self.url else UNADDRESSED

    @property
    def scope_keys(self) -> tuple[str, ...]:
        """The keys of the webhook's scope for ``accounts.access``; none for the account."""
        owner = self.project or self.department
        if owner is not None:
            return owner.scope_keys
        return (access.scope_key("cluster", self.cluster_id),) if self.cluster_id else ()


class DeliveryState(models.TextChoices):
    PENDING = "pending", "Pending"
    DELIVERED = "delivered", "Delivered"
    FAILED = "failed", "Failed"


def delivery_states() -> Choices:
    return DeliveryState.choices


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def due(self) -> Self:
        """Deliveries that are due. If the webhook is off or quiet, they are only due if a user
        requested them."""
        now = timezone.now()
        is_not_quiet = Q(webhook__quiet_until=None) | Q(webhook__quiet_until__lte=now)
        may_send = Q(webhook__enabled=True) & is_not_quiet | Q(asked_by__isnull=False)
        rows = self.filter(may_send, state=DeliveryState.PENDING, next_try_at__lte=now)
        return rows.select_related("webhook").order_by("next_try_at", "event")


class Delivery(models.Model):
    """A message to a webhook, and the results of all attempts to send it.

    The message never changes: ``id`` and ``body`` stay the same when it is sent again. ``event`` is
    the number of its event, ``None`` for a test or a condition. ``next_try_at`` also serves as a
    claim: no other worker sends the message before that time. ``asked_by`` is the user who
    requested it. ``log`` contains the attempts, the oldest first, including those before it was
    sent again. The other columns describe the last attempt.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.BigIntegerField(null=True, blank=True)
    type = models.CharField(max_length=40)
    subject = models.CharField(max_length=100, blank=True)
    body = models.CharField(max_length=LONGEST_BODY)
    state = models.CharField(max_length=10, choices=delivery_states, default=DeliveryState.PENDING)
    asked_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    attempts = models.PositiveIntegerField(default=0)
    next_try_at = models.DateTimeField(null=True, blank=True, default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True, blank=True)
    milliseconds = models.PositiveIntegerField(null=True, blank=True)
    status_code = models.PositiveIntegerField(null=True, blank=True)
    answer = CleanedTextField(blank=True, max_length=LONGEST_ANSWER)
    fault = CleanedCharField(max_length=500, blank=True)
    log = CleanedJSONField(default=list, blank=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-event"]
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(
                fields=["next_try_at"], condition=Q(state="pending"), name="delivery_to_send"
            ),
            models.Index(fields=["webhook", "-created_at"], name="delivery_of_webhook"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event"], name="one_delivery_of_an_event")
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.subject}".strip()

    @property
    def message_id(self) -> str:
        return f"msg_{self.id.hex}"

    @property
    def is_blocked(self) -> bool:
        """Whether the delivery waits because the secret or the address is lost. A delivery that a
        user requested fails at once instead."""
        is_requested = self.asked_by_id is not None
        is_waiting = self.state == DeliveryState.PENDING and not is_requested
        return is_waiting and bool(self.webhook.lost_reason)

    @property
    def pretty_body(self) -> str:
        """The body with line breaks for reading. It is sent without them."""
        return json.dumps(json.loads(self.body), indent=2, ensure_ascii=False)


class ReportedCondition(models.Model):
    """A condition that was reported and has not ended since, such as a cluster that is down."""

    key = models.CharField(max_length=120, unique=True)
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.key


class EventCursor(models.Model):
    """The number of the event up to which deliveries and notifications were created. There is one
    row. ``late`` lists smaller numbers that were missing, each with the time when that was noticed,
    because their transactions may still be open."""

    position = models.BigIntegerField(default=0)
    late = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"event {self.position}"


#: What people who never chose get about their own workloads, by their types in ``events``.
DEFAULT_EVENTS = (
    *("workload.completed", "workload.failed", "workload.stopped"),
    *("workload.will-stop-by-rule", "workload.stopped-by-rule"),
    *("workload.preempted", "workload.pending-long"),
    "cluster.disconnected",
)


def default_events() -> list[str]:
    return list(DEFAULT_EVENTS)


def every_kind() -> list[str]:
    return [kind.value for kind in WorkloadKind]


class Subscription(models.Model):
    """What a person wants to hear of: events of their own workloads, or of all of a ``project``.

    ``kinds`` are those of workloads. Notifications are always on the page; ``mail`` sends them as
    well. A workload counts as pending for long after ``pending_minutes``. A person without any
    subscription gets the events of a new one, on the page.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="subscriptions")
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    events = models.JSONField(default=default_events)
    kinds = models.JSONField(default=every_kind)
    mail = models.BooleanField(default=False)
    pending_minutes = models.PositiveIntegerField(default=DEFAULT_WAIT, validators=WAIT_LIMITS)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return f"Workloads of {self.project}" if self.project else "My workloads"


class Encryption(models.TextChoices):
    """How the connection to a mail server is encrypted."""

    STARTTLS = "starttls", "STARTTLS, usually at port 587"
    TLS = "tls", "TLS from the start, usually at port 465"
    NONE = "none", "None"


def encryptions() -> Choices:
    return Encryption.choices


class MailServer(models.Model):
    """The mail server that administrators saved, at most one. Without a row it is the server of the
    environment, which is an instance without a primary key. Nobody sees the password again."""

    host = models.CharField(
        max_length=255,
        validators=[
            RegexValidator(
                r"^[A-Za-z0-9:]([A-Za-z0-9.:-]*[A-Za-z0-9])?\Z",
                "Enter a host name, such as smtp.example.com, or an IP address.",
            )
        ],
    )
    port = models.PositiveIntegerField(
        default=587, validators=[MinValueValidator(1), MaxValueValidator(65535)]
    )
    encryption = models.CharField(max_length=10, choices=encryptions, default=Encryption.STARTTLS)
    username = models.CharField("user", max_length=255, blank=True)
    password = RenewableTextField(blank=True)
    sender = models.EmailField("sender address")
    sender_name = models.CharField(
        max_length=100,
        blank=True,
        validators=[RegexValidator(r"^[^\x00-\x1f\x7f]*\Z", "Enter one line of text.")],
    )
    enabled = models.BooleanField(default=True)

    class Meta:
        verbose_name = "mail server"

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def is_saved(self) -> bool:
        """Whether an administrator saved it; otherwise the environment has it."""
        return self.pk is not None

    @property
    def lacks_password(self) -> bool:
        """Whether the password is missing, or was encrypted with a key that is lost."""
        return bool(self.username) and not self.password


class Mail(models.Model):
    """A mail to one person about one notification, or about several as a digest. Its text is made
    when it is sent. ``next_try_at`` also serves as a claim, as that of a delivery does."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="mails")
    address = models.EmailField()
    subject = CleanedCharField(max_length=200)
    state = models.CharField(max_length=10, choices=delivery_states, default=DeliveryState.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    next_try_at = models.DateTimeField(null=True, blank=True, default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True, blank=True)
    fault = CleanedCharField(max_length=500, blank=True)

    if TYPE_CHECKING:
        notifications: RelatedManager["Notification"]

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["next_try_at"], condition=Q(state="pending"), name="mail_to_send"),
            models.Index(fields=["user", "-created_at"], name="mail_of_user"),
        ]

    def __str__(self) -> str:
        return self.subject


class NotificationQuerySet(models.QuerySet["Notification"]):
    def visible_to(self, user: User) -> Self:
        """The user's notifications, without those about projects that they may no longer see."""
        columns = {"project": "project", "department": "project__department", "cluster": "cluster"}
        return self.filter(access.permitted_rows(user, "workloads.read", **columns), user=user)

    def unread(self) -> Self:
        return self.filter(read_at=None)


class Notification(models.Model):
    """Something that one person is told. ``event`` is the number of its event, ``None`` for a
    condition. ``wants_mail`` until ``mail`` is set: then that mail contains it."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notifications")
    event = models.BigIntegerField(null=True, blank=True)
    type = models.CharField(max_length=40)
    title = CleanedCharField(max_length=200)
    reason = models.CharField(max_length=30, blank=True)
    text = CleanedTextField(blank=True)
    workload = models.ForeignKey(
        Workload, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    read_at = models.DateTimeField(null=True, blank=True)
    wants_mail = models.BooleanField(default=False)
    mail = models.ForeignKey(
        Mail, on_delete=models.SET_NULL, null=True, blank=True, related_name="notifications"
    )

    objects = NotificationQuerySet.as_manager()

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["user", "-at"], name="notification_of_user"),
            models.Index(fields=["user"], condition=Q(read_at=None), name="notification_unread"),
            models.Index(
                fields=["user"],
                condition=Q(wants_mail=True, mail=None),
                name="notification_to_mail",
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["user", "event"], name="one_notification_of_an_event")
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def target_address(self) -> str:
        """The address of the page that the notification is about."""
        if self.workload:
            return self.workload.get_absolute_url()
        of_cluster = self.type.startswith("cluster.")
        return (self.cluster if of_cluster else self.project).get_absolute_url()
