"""REST: the requests and answers about webhooks and their deliveries."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import Field

from accounts import access
from accounts.models import User
from core.rest.api import NextOffset, StrictBody, Wire, enum_schema
from notifications.events import DIGEST, EVERY_EVENT, TEST, TYPES
from notifications.models import DEFAULT_WAIT, Delivery, DeliveryState, MessageFormat, Webhook
from projects.api.scopes import SCOPE_WORDS, AssetScope, Number

WebhookFormat = Annotated[str, enum_schema(*MessageFormat.values)]
EventType = Annotated[str, enum_schema(EVERY_EVENT, *TYPES)]


class WebhookChange(StrictBody):
    """Missing fields do not change. If ``enabled`` is set to true, messages begin with what happens
    then."""

    name: str = Field(default="", description="The name")
    url: str = Field(default="", description="Where messages are posted, by https:// or http://")
    events: list[EventType] = Field(
        default=[], description="The types of its messages; * is every event"
    )
    pending_minutes: int = Field(
        default=DEFAULT_WAIT, description="After how long a workload is pending for long"
    )
    enabled: bool = Field(default=True, description="Whether messages are sent")


class WebhookIn(WebhookChange):
    """The id that ``scope`` needs is required, such as ``projectId``. Without ``events`` all are
    meant."""

    name: str = Field(description="The name")
    url: str = Field(description="Where messages are posted, by https:// or http://")
    events: list[EventType] = Field(
        default=[EVERY_EVENT], description="The types of its messages; * is every event"
    )
    format: WebhookFormat = Field(
        default=MessageFormat.SIGNED.value,
        description="How messages look: signed JSON, or what Slack's incoming webhooks take",
    )
    scope: AssetScope = Field(
        description=(
            "The place whose workloads its messages are about; tenant is the account with all "
            "clusters"
        )
    )
    cluster_id: UUID | None = Field(default=None, description="The ID of the cluster")
    department_id: Number | None = Field(default=None, description="The ID of the department")
    project_id: Number | None = Field(default=None, description="The ID of the project")


class WebhookStatus(Wire):
    """``failures`` counts those since the last success, of which the first was at ``failingSince``.
    ``endedBecause`` says why Trainyard turned the webhook off."""

    failures: int = Field(description="How many attempts failed since the last success")
    failing_since: datetime | None = Field(
        description="When the first failure since the last success happened; null without failures"
    )
    ended_because: str = Field(description="Why Trainyard turned it off; empty if it did not")


class WebhookOut(Wire):
    id: UUID = Field(description="Its ID")
    name: str = Field(description="The name")
    url: str = Field(
        description=(
            "Where messages are posted; the path is *** in lists, and for callers who may not "
            "change the webhook"
        )
    )
    events: list[EventType] = Field(description="The types of its messages; * is every event")
    pending_minutes: int = Field(description="After how long a workload is pending for long")
    enabled: bool = Field(description="Whether messages are sent")
    format: WebhookFormat = Field(
        description="How messages look: signed JSON, or what Slack's incoming webhooks take"
    )
    scope: AssetScope = Field(
        description=(
            "The place whose workloads its messages are about; tenant is the account with all "
            "clusters"
        )
    )
    cluster_id: UUID | None = Field(description="The ID of the cluster")
    department_id: str | None = Field(description="The ID of the department")
    project_id: str | None = Field(description="The ID of the project")
    status: WebhookStatus = Field(description="Its status")
    created_by: str = Field(description="The username of the person who created it")
    created_at: datetime = Field(description="When it was created")
    updated_at: datetime = Field(description="When it last changed")

    @classmethod
    def of(cls, webhook: Webhook, user: User | None = None) -> "WebhookOut":
        """Describe a webhook, with the path of its address only if ``user`` may change it."""
        keys = webhook.scope_keys
        may_change = user is not None and access.may(user, "webhooks.update", *keys)
        url = webhook.editable_url if may_change else webhook.masked_url
        return cls(**_facts(webhook) | {"url": url})


class WebhookSecret(WebhookOut):
    """The only answer that contains the ``secret``."""

    url: str = Field(description="Where messages are posted")
    secret: str = Field(
        description="Signs the messages; shown in this answer alone. Empty for Slack"
    )

    @classmethod
    def of_new(cls, webhook: Webhook) -> "WebhookSecret":
        """Describe a webhook with its new secret, for the user who created it."""
        facts = _facts(webhook) | {"url": webhook.editable_url}
        return cls(secret="" if webhook.is_slack else webhook.secret, **facts)


def _facts(webhook: Webhook) -> dict[str, Any]:
    return {
        "id": webhook.pk,
        "name": webhook.name,
        "url": webhook.url,
        "events": webhook.events,
        "pending_minutes": webhook.pending_minutes,
        "enabled": webhook.enabled,
        "format": webhook.format,
        "scope": AssetScope(SCOPE_WORDS[webhook.scope]),
        "cluster_id": webhook.cluster_id,
        "department_id": str(webhook.department_id) if webhook.department_id else None,
        "project_id": str(webhook.project_id) if webhook.project_id else None,
        "status": {
            "failures": webhook.failures,
            "failing_since": webhook.failing_since,
            "ended_because": webhook.ended_because,
        },
        "created_by": webhook.created_by.username if webhook.created_by else "",
        "created_at": webhook.created_at,
        "updated_at": webhook.updated_at,
    }


class WebhookList(Wire):
    webhooks: list[WebhookOut] = Field(
        description="Addresses that get a message when workloads change"
    )
    next: NextOffset


class DeliveryOut(Wire):
    """``statusCode`` and ``fault`` are of the last attempt, which took ``milliseconds``."""

    id: UUID = Field(description="Its ID")
    message_id: str = Field(
        description="Its ID in the header webhook-id, which stays the same when it is sent again"
    )
    type: Annotated[str, enum_schema(*TYPES, TEST, DIGEST)] = Field(
        description="The event that it reports"
    )
    subject: str = Field(description="The name of the workload that it is about")
    state: Annotated[str, enum_schema(*DeliveryState.values)] = Field(
        description="Whether it will be sent, was delivered, or was given up"
    )
    attempts: int = Field(description="How many times it was sent")
    created_at: datetime = Field(description="When it was created")
    sent_at: datetime | None = Field(
        description="When it was last sent; null before the first attempt"
    )
    next_try_at: datetime | None = Field(
        description="When it is tried next; null if it is not tried again"
    )
    status_code: int | None = Field(
        description="The HTTP status of the receiver's answer; null if it did not answer"
    )
    milliseconds: int | None = Field(description="How long the last attempt took")
    fault: str = Field(description="What was wrong with the last attempt; empty if nothing was")

    @classmethod
    def of(cls, delivery: Delivery) -> Self:
        answer = cls.model_validate(delivery)
        if not delivery.is_blocked:
            return answer
        changes = {"next_try_at": None, "fault": delivery.webhook.lost_reason}
        return answer.model_copy(update=changes)


class DeliveryAttempt(Wire):
    """An attempt to send the message, and the first KB of the answer."""

    at: datetime = Field(description="When it was sent")
    status_code: int | None = Field(
        description="The HTTP status of the receiver's answer; null if it did not answer"
    )
    milliseconds: int = Field(description="How long it took")
    fault: str = Field(description="Why it failed; empty if it did not")
    answer: str = Field(description="The first KB of what the receiver answered")


class DeliveryDetail(DeliveryOut):
    """A delivery with the message, the first KB of the last answer, and the latest 20 attempts,
    oldest first."""

    body: str = Field(description="The body of the message as it is sent and signed")
    answer: str = Field(description="The first KB of what the receiver answered")
    log: list[DeliveryAttempt] = Field(
        description="Its latest 20 attempts, oldest first, including those before it was resent"
    )


class DeliveryList(Wire):
    deliveries: list[DeliveryOut] = Field(description="Messages to the webhook")
    next: NextOffset
