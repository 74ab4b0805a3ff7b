"""Requests and answers about webhooks and their deliveries."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from accounts import access
from accounts.models import User
from assets.api.schemas import SCOPE_WORDS, AssetScope, Number
from core.rest.api import Closed, Wire, words
from notifications.models import Delivery, DeliveryState, Webhook
from notifications.webhooks.events import EVERY_EVENT, TEST, TYPES

EventType = Annotated[str, words(EVERY_EVENT, *TYPES)]


class WebhookChange(Closed):
    """Missing fields do not change. If ``enabled`` is set to true, messages begin with what happens
    then."""

    name: str = ""
    url: str = ""
    events: list[EventType] = []
    enabled: bool = True


class WebhookIn(WebhookChange):
    """The id that ``scope`` needs is required, such as ``projectId``. Without ``events`` all are
    meant."""

    name: str
    url: str
    events: list[EventType] = [EVERY_EVENT]
    scope: AssetScope
    cluster_id: UUID | None = None
    department_id: Number | None = None
    project_id: Number | None = None


class WebhookStatus(Wire):
    """``failures`` counts those since the last success, of which the first was at ``failingSince``.
    ``endedBecause`` says why Trainyard turned the webhook off."""

    failures: int
    failing_since: datetime | None
    ended_because: str


class WebhookOut(Wire):
    id: UUID
    name: str
    url: str
    events: list[EventType]
    enabled: bool
    scope: AssetScope
    cluster_id: UUID | None
    department_id: str | None
    project_id: str | None
    status: WebhookStatus
    created_by: str
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, webhook: Webhook, user: User | None = None) -> "WebhookOut":
        """``user`` sees the whole address if they may change it, everyone else none of its path."""
        keys = webhook.scope_keys
        whole = user is not None and access.may(user, "webhooks.update", *keys)
        return cls(**_facts(webhook) | {"url": webhook.url if whole else webhook.shown_url})


class WebhookSecret(WebhookOut):
    """The only answer that contains the ``secret``."""

    secret: str

    @classmethod
    def of_new(cls, webhook: Webhook) -> "WebhookSecret":
        """For whoever created the secret, who may change the webhook."""
        return cls(secret=webhook.secret, **_facts(webhook))


def _facts(webhook: Webhook) -> dict[str, Any]:
    return {
        "id": webhook.pk,
        "name": webhook.name,
        "url": webhook.url,
        "events": webhook.events,
        "enabled": webhook.enabled,
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
    webhooks: list[WebhookOut]
    next: int | None


class DeliveryOut(Wire):
    """``statusCode`` and ``fault`` are of the last attempt, which took ``milliseconds``."""

    id: UUID
    message_id: str
    type: Annotated[str, words(*TYPES, TEST)]
    subject: str
    state: Annotated[str, words(*DeliveryState.values)]
    attempts: int
    created_at: datetime
    sent_at: datetime | None
    next_try_at: datetime | None
    status_code: int | None
    milliseconds: int | None
    fault: str

    @classmethod
    def of(cls, delivery: Delivery) -> Self:
        held = {"next_try_at": None, "fault": delivery.webhook.lost} if delivery.is_held else {}
        return cls.model_validate(delivery).model_copy(update=held)


class DeliveryAttempt(Wire):
    """An attempt to send the message, and the first KB of the answer."""

    at: datetime
    status_code: int | None
    milliseconds: int
    fault: str
    answer: str


class DeliveryDetail(DeliveryOut):
    """A delivery with the message, the first KB of the last answer, and the latest 20 attempts,
    oldest first."""

    body: str
    answer: str
    log: list[DeliveryAttempt]


class DeliveryList(Wire):
    deliveries: list[DeliveryOut]
    next: int | None
