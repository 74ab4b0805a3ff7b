"""REST: the requests and answers about people's notifications, in Run:ai's words."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from core.rest.api import StrictBody, Wire, enum_schema
from notifications.events import PERSONAL_TYPES
from notifications.models import DEFAULT_WAIT, Subscription, every_kind

EMAIL = "email"
Category = Annotated[str, enum_schema(*PERSONAL_TYPES)]
PersonalType = Annotated[
    str, enum_schema(*(it for types in PERSONAL_TYPES.values() for it in types))
]
KindName = Annotated[str, enum_schema(*every_kind())]


class NotificationTypeOut(Wire):
    """An event that people can subscribe to."""

    category: Category = Field(description="The category, which groups events")
    type: PersonalType = Field(description="The event")
    description: str = Field(description="What it is called on pages")


class SubscribedEvents(StrictBody):
    """Events of one category."""

    category: Category = Field(description="The category, which groups events")
    types: list[PersonalType] = Field(description="The events")


class SubscriptionIn(StrictBody):
    """Notifications are always on the pages; the channel ``email`` sends them as well. ``id`` is
    ignored."""

    events: list[SubscribedEvents] = Field(description="The events, by category")
    channels: list[str] = Field(default=[], description="email, or none")
    id: str | None = Field(default=None, description="Ignored: Trainyard chooses it")
    project_id: str | None = Field(
        default=None, description="The project whose workloads it is about; null is your own"
    )
    kinds: list[KindName] = Field(
        default_factory=every_kind, description="The kinds of workloads that it is about"
    )
    pending_minutes: int = Field(
        default=DEFAULT_WAIT, description="After how long a workload is pending for long"
    )


class SubscriptionOut(Wire):
    id: UUID = Field(description="Its ID")
    events: list[SubscribedEvents] = Field(description="The events, by category")
    channels: list[Literal["email"]] = Field(description="Where they are sent besides the pages")
    project_id: str | None = Field(
        description="The project whose workloads it is about; null is your own"
    )
    kinds: list[KindName] = Field(description="The kinds of workloads that it is about")
    pending_minutes: int = Field(description="After how long a workload is pending for long")

    @classmethod
    def of(cls, subscription: Subscription) -> "SubscriptionOut":
        chosen = set(subscription.events)
        return cls(
            id=subscription.pk,
            events=[
                SubscribedEvents(category=category, types=[it for it in types if it in chosen])
                for category, types in PERSONAL_TYPES.items()
                if chosen.intersection(types)
            ],
            channels=["email"] if subscription.mail else [],
            project_id=str(subscription.project_id) if subscription.project_id else None,
            kinds=subscription.kinds,
            pending_minutes=subscription.pending_minutes,
        )
