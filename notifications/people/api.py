"""REST: what people can hear of, and what they subscribe to."""

from typing import Any
from uuid import UUID

from ninja import Router, Status

from accounts.api.tokens import ApiRequest
from core.rest.api import Issue, not_found, refusal_error, translate_errors
from notifications import events
from notifications.models import Subscription
from notifications.people import services
from notifications.people.schemas import (
    EMAIL,
    NotificationTypeOut,
    SubscriptionIn,
    SubscriptionOut,
)
from projects.models import Project

router = Router(tags=["Notifications"])
REFUSED = "The subscription cannot be saved."


@router.get("/notification-types", response=list[NotificationTypeOut], by_alias=True)
def get_notification_types(request: ApiRequest) -> list[NotificationTypeOut]:
    """The events that people can subscribe to."""
    return [
        NotificationTypeOut(category=category, type=name, description=events.event_label(name))
        for category, names in events.PERSONAL_TYPES.items()
        for name in names
    ]


@router.get("/subscriptions", response=list[SubscriptionOut], by_alias=True)
def get_my_subscriptions(request: ApiRequest) -> list[SubscriptionOut]:
    """Your own subscriptions. Without any you hear of your own workloads, on the pages."""
    return [SubscriptionOut.of(row) for row in request.user.subscriptions.all()]


@router.post("/subscriptions", response={201: SubscriptionOut}, by_alias=True)
def create_subscription(request: ApiRequest, body: SubscriptionIn) -> Status[SubscriptionOut]:
    """Subscribe to events of your own workloads, or of a project."""
    values = _values(request, body)
    with translate_errors(REFUSED):
        subscription = services.subscribe(by=request.user, **values)
    return Status(201, SubscriptionOut.of(subscription))


@router.put("/subscriptions/{subscription_id}", response=SubscriptionOut, by_alias=True)
def update_subscription(
    request: ApiRequest, subscription_id: UUID, body: SubscriptionIn
) -> SubscriptionOut:
    """Replace one of your own subscriptions."""
    subscription = _find_subscription(request, subscription_id)
    values = _values(request, body)
    with translate_errors(REFUSED):
        services.change_subscription(subscription, by=request.user, **values)
    return SubscriptionOut.of(subscription)


@router.delete("/subscriptions/{subscription_id}", response={204: None})
def delete_subscription(request: ApiRequest, subscription_id: UUID) -> Status[None]:
    """Delete one of your own subscriptions."""
    services.unsubscribe(_find_subscription(request, subscription_id), by=request.user)
    return Status(204, None)


def _values(request: ApiRequest, body: SubscriptionIn) -> dict[str, Any]:
    """Return the values for the services. Refuses an unknown channel or project."""
    wrong = [name for name in body.channels if name != EMAIL]
    if wrong:
        text = f"{wrong[0]} is no channel of people. Use email; Slack is reached by webhooks."
        raise refusal_error(REFUSED, [Issue(field="channels", details=text, rule="options")])
    project = None
    if body.project_id is not None:
        rows = Project.objects.open_to(request.user, "workloads.read")
        number = int(body.project_id) if body.project_id.isdecimal() else 0
        project = rows.filter(pk=number).first()
        if project is None:
            text = "There is no such project that you have access to."
            raise refusal_error(REFUSED, [Issue(field="projectId", details=text, rule="options")])
    return {
        "project": project,
        "events": [name for group in body.events for name in group.types],
        "kinds": body.kinds,
        "mail": EMAIL in body.channels,
        "pending_minutes": body.pending_minutes,
    }


def _find_subscription(request: ApiRequest, pk: UUID) -> Subscription:
    rows = request.user.subscriptions.select_related("project", "user")
    subscription: Subscription | None = rows.filter(pk=pk).first()
    if subscription is None:
        raise not_found("The subscription")
    return subscription
