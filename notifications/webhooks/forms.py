"""The form of a webhook. The services validate its values."""

from typing import Any

from django.http import QueryDict

from accounts.models import User
from core.forms.field import Field, Input
from core.forms.form import Form
from notifications import events
from notifications.models import DEFAULT_WAIT, MessageFormat, Webhook, formats
from projects.scopes import OwningScope, scope_options, scopes_open_to

FIELDS = (
    Field(
        "scope", "Scope", Input.SELECT, "Whose workloads the messages are about.", choices="scopes"
    ),
    Field("format", "Format", Input.RADIO, options=tuple(formats())),
    Field("name", "Name", hint="Its purpose, such as chat.", required=True),
    Field(
        "url",
        "Address",
        hint="Messages are posted here. Others at this address see names of workloads. "
        "The address of Slack is a secret, which is not shown again.",
        placeholder="https://example.com/hook",
        required=True,
        literal=True,
    ),
    Field("events", "Events", Input.BOXES, options=tuple(events.choices()), required=True),
    Field(
        "pending_minutes",
        "Minutes until a workload is pending for long",
        Input.WHOLE,
        required=True,
    ),
)
ENABLED = Field(
    "enabled",
    "Enabled",
    Input.FLAG,
    "What happens while it is off is not sent later.",
    initial=True,
)


class WebhookForm(Form):
    """The form of a new webhook, or of an existing one, whose scope cannot be changed."""

    def __init__(
        self, posted: QueryDict | None, *, user: User, webhook: Webhook | None = None
    ) -> None:
        places = (
            [OwningScope.from_asset(webhook)]
            if webhook
            else scopes_open_to(user, "webhooks.create").values()
        )
        self.places = {place.key: place for place in places}
        initial: dict[str, Any] = {
            "events": [events.EVERY_EVENT],
            "pending_minutes": DEFAULT_WAIT,
            "enabled": True,
            "format": MessageFormat.SIGNED.value,
        }
        if webhook:
            names = ("name", "events", "pending_minutes", "enabled", "format")
            initial = {name: getattr(webhook, name) for name in names}
            initial["url"] = webhook.editable_url
            initial["scope"] = OwningScope.from_asset(webhook).key
        groups = scope_options(self.places, "")
        offered = {"scopes": [option for _, options in groups for option in options]}
        fields = (*FIELDS, ENABLED) if webhook else FIELDS
        fixed = ("scope", "format") if webhook else ()
        super().__init__(fields, initial, posted, offered=offered, fixed=fixed)
        self["scope"].groups = groups

    @property
    def chosen_scope(self) -> OwningScope:
        return self.places[self.values["scope"]]

    def submitted_values(self) -> dict[str, Any]:
        """Return the values for the services."""
        return {
            "name": str(self.values.get("name", "")),
            "url": str(self.values.get("url", "")),
            "events": list(self.values.get("events", ())),
            "pending_minutes": self.values.get("pending_minutes"),
            "enabled": bool(self.values.get("enabled", True)),
        }
