"""REST: webhooks and their deliveries."""

from typing import Any
from uuid import UUID

from ninja import Query, Router, Status

from accounts.api.tokens import ApiRequest
from core.rest.api import Pages, not_found, refusal_error, translate_errors
from core.rest.filters import (
    DATE,
    ID,
    NUMBER,
    TEXT,
    Fields,
    Filtered,
    SortBy,
    SortParameters,
    filter_queryset,
    parse_filters,
    sort_column,
    sort_queryset,
    word_choices,
)
from core.rest.rows import filter_objects, sort_objects
from notifications.events import DIGEST, TEST, TYPES
from notifications.models import Delivery, DeliveryState, MessageFormat, Webhook
from notifications.webhooks import services
from notifications.webhooks.schemas import (
    DeliveryDetail,
    DeliveryList,
    DeliveryOut,
    WebhookChange,
    WebhookIn,
    WebhookList,
    WebhookOut,
    WebhookSecret,
)
from projects.api.scopes import SCOPES, shared_scope_from

router = Router(tags=["Webhooks"])
REFUSED = "The webhook cannot be saved."
URL = "url"  # a column whose path not everyone sees
CHANGEABLE = ("name", "url", "events", "pending_minutes", "enabled")
FIELDS: Fields = {
    "id": ("pk", ID),
    "name": ("name", TEXT),
    "url": (URL, TEXT),
    "scope": ("scope", SCOPES),
    "clusterId": ("cluster_id", ID),
    "departmentId": ("department_id", NUMBER),
    "projectId": ("project_id", NUMBER),
    "createdAt": ("created_at", DATE),
    "updatedAt": ("updated_at", DATE),
}
DELIVERY_FIELDS: Fields = {
    "id": ("pk", ID),
    "type": ("type", word_choices((*TYPES, TEST, DIGEST))),
    "subject": ("subject", TEXT),
    "state": ("state", word_choices(DeliveryState.values)),
    "statusCode": ("status_code", NUMBER),
    "createdAt": ("created_at", DATE),
    "sentAt": ("sent_at", DATE),
}


class WebhookListing(Pages, SortParameters, Filtered):
    sort_by: SortBy = "name"


class DeliveryListing(Pages, SortParameters, Filtered):
    pass


@router.get("/webhooks", response=WebhookList, by_alias=True)
def list_webhooks(request: ApiRequest, listing: Query[WebhookListing]) -> WebhookList:
    """Those that you can see, without the path of ``url``. ``filterBy`` and ``sortBy`` take
    ``name``, ``url``, ``scope``, its ids and the times; by ``url`` only those that you may change
    are listed."""
    rows = Webhook.objects.visible_to(request.user).for_list()
    columns = [it.column for it in parse_filters(listing.filter_by, FIELDS)]
    if URL in (*columns, sort_column(listing, FIELDS)):  # which is encrypted in the database
        theirs = rows.filter(pk__in=Webhook.objects.open_to(request.user, "webhooks.update"))
        theirs = theirs.exclude(
            format=MessageFormat.SLACK
        )  # nobody may guess its address by a filter
        matches = filter_objects(theirs, listing, FIELDS, "name")
        page, following = listing.cut(sort_objects(matches, listing, FIELDS))
    else:
        rows = filter_queryset(
            rows.filter(name__icontains=listing.search), listing.filter_by, FIELDS
        )
        page, following = listing.cut(sort_queryset(rows, listing, FIELDS))
    return WebhookList(webhooks=[WebhookOut.of(it) for it in page], next=following)


@router.post("/webhooks", response={201: WebhookSecret}, by_alias=True)
def create_webhook(request: ApiRequest, body: WebhookIn) -> Status[WebhookSecret]:
    """Create a webhook: an address that gets a message when workloads change. The secret that signs
    the messages is in this answer and never shown again."""
    place, wrong = shared_scope_from(body, request.user)
    if place is None:
        raise refusal_error(REFUSED, wrong)
    values: dict[str, Any] = body.model_dump(include={*CHANGEABLE, "format"})
    with translate_errors(REFUSED):
        webhook = services.create(by=request.user, place=place, **values)
    return Status(201, WebhookSecret.of_new(webhook))


@router.get("/webhooks/{webhook_id}", response=WebhookOut, by_alias=True)
def get_webhook(request: ApiRequest, webhook_id: UUID) -> WebhookOut:
    """One webhook, without its secret."""
    return WebhookOut.of(_find_webhook(request, webhook_id), request.user)


@router.put("/webhooks/{webhook_id}", response=WebhookOut, by_alias=True)
def update_webhook(request: ApiRequest, webhook_id: UUID, body: WebhookChange) -> WebhookOut:
    """Change the given fields. The scope cannot be changed."""
    webhook = _find_webhook(request, webhook_id)
    values = {
        name: getattr(body if name in body.model_fields_set else webhook, name)
        for name in CHANGEABLE
    }
    with translate_errors(REFUSED):
        services.update(webhook, by=request.user, **values)
    return WebhookOut.of(webhook, request.user)


@router.delete("/webhooks/{webhook_id}", response={204: None})
def delete_webhook(request: ApiRequest, webhook_id: UUID) -> Status[None]:
    """Delete a webhook with its deliveries. Messages that were not sent yet are not sent."""
    webhook = _find_webhook(request, webhook_id)
    with translate_errors(REFUSED):
        services.delete(webhook, by=request.user)
    return Status(204, None)


@router.post("/webhooks/{webhook_id}/secret", response=WebhookSecret, by_alias=True)
def renew_webhook_secret(request: ApiRequest, webhook_id: UUID) -> WebhookSecret:
    """Create a new secret. For 24 hours messages are also signed with the old one."""
    webhook = _find_webhook(request, webhook_id)
    with translate_errors(REFUSED):
        services.renew_secret(webhook, by=request.user)
    return WebhookSecret.of_new(webhook)


@router.post("/webhooks/{webhook_id}/test", response={202: DeliveryDetail}, by_alias=True)
def test_webhook(request: ApiRequest, webhook_id: UUID) -> Status[DeliveryDetail]:
    """Send the message webhook.test, once, also to a webhook that is off."""
    webhook = _find_webhook(request, webhook_id)
    with translate_errors(REFUSED):
        delivery = services.send_test(webhook, by=request.user)
    return Status(202, DeliveryDetail.of(delivery))


@router.get("/webhooks/{webhook_id}/deliveries", response=DeliveryList, by_alias=True)
def list_deliveries(
    request: ApiRequest, webhook_id: UUID, listing: Query[DeliveryListing]
) -> DeliveryList:
    """Messages that were or will be sent. ``filterBy`` and ``sortBy`` take ``type``, ``subject``,
    ``state``, ``statusCode`` and the times."""
    rows = filter_queryset(
        _find_webhook(request, webhook_id).deliveries.all(), listing.filter_by, DELIVERY_FIELDS
    )
    if listing.search:
        rows = rows.filter(subject__icontains=listing.search)
    page, following = listing.cut(sort_queryset(rows, listing, DELIVERY_FIELDS))
    return DeliveryList(deliveries=[DeliveryOut.of(it) for it in page], next=following)


@router.get(
    "/webhooks/{webhook_id}/deliveries/{delivery_id}", response=DeliveryDetail, by_alias=True
)
def get_delivery(request: ApiRequest, webhook_id: UUID, delivery_id: UUID) -> DeliveryDetail:
    """One message, as it is sent, and the beginning of the last answer."""
    return DeliveryDetail.of(_find_delivery(request, webhook_id, delivery_id))


@router.post(
    "/webhooks/{webhook_id}/deliveries/{delivery_id}/resend",
    response={202: DeliveryDetail},
    by_alias=True,
)
def resend_delivery(
    request: ApiRequest, webhook_id: UUID, delivery_id: UUID
) -> Status[DeliveryDetail]:
    """Send the same message again, now, with the same id. To a webhook that is off it is sent
    once."""
    delivery = _find_delivery(request, webhook_id, delivery_id)
    with translate_errors(REFUSED):
        services.resend(delivery, by=request.user)
    return Status(202, DeliveryDetail.of(delivery))


def _find_webhook(request: ApiRequest, pk: UUID) -> Webhook:
    webhook = Webhook.objects.visible_to(request.user).for_list().filter(pk=pk).first()
    if webhook is None:
        raise not_found("The webhook")
    return webhook


def _find_delivery(request: ApiRequest, webhook_id: UUID, pk: UUID) -> Delivery:
    visible = Webhook.objects.visible_to(request.user).for_list().filter(pk=webhook_id)
    rows = Delivery.objects.filter(pk=pk, webhook__in=visible).select_related("webhook")
    delivery = rows.first()
    if delivery is None:
        raise not_found("The delivery")
    return delivery
