"""The form of a subscription. The services validate its values."""

from typing import Any

from django.http import QueryDict

from accounts.models import User
from core.forms.field import Field, Input, Option
from core.forms.form import Form
from notifications import events
from notifications.models import Subscription
from projects.models import Project
from spec.kind import WorkloadKind

MINE = "mine"
FIELDS = (
    Field("project", "Whose workloads", Input.SELECT, choices="projects"),
    Field(
        "kinds",
        "Kinds of workloads",
        Input.BOXES,
        options=tuple((kind.value, kind.label) for kind in WorkloadKind),
        required=True,
    ),
    Field(
        "events",
        "Events",
        Input.BOXES,
        "Without any, you get no notifications. You get none about what you do yourself either.",
        options=tuple(events.personal_choices()),
    ),
    Field(
        "pending_minutes",
        "Minutes until a workload is pending for long",
        Input.WHOLE,
        required=True,
    ),
    Field("mail", "Also by email", Input.FLAG),
)


class SubscriptionForm(Form):
    """The form of a new subscription, or of an existing one."""

    def __init__(
        self, posted: QueryDict | None, *, user: User, subscription: Subscription | None = None
    ) -> None:
        rows = Project.objects.open_to(user, "workloads.read").order_by("name", "pk")
        self.projects = {str(project.pk): project for project in rows.distinct()}
        options: list[Option] = [(MINE, "My workloads")]
        options += [(pk, f"All of project {project}") for pk, project in self.projects.items()]
        subscription = subscription or Subscription(user=user)
        initial: dict[str, Any] = {
            name: getattr(subscription, name)
            for name in ("kinds", "events", "mail", "pending_minutes")
        }
        initial["project"] = str(subscription.project_id or MINE)
        super().__init__(FIELDS, initial, posted, offered={"projects": options})

    def submitted_values(self) -> dict[str, Any]:
        """Return the values for the services."""
        return {
            "project": self.projects.get(self.values.get("project", MINE)),
            "events": list(self.values.get("events", ())),
            "kinds": list(self.values.get("kinds", ())),
            "mail": bool(self.values.get("mail", False)),
            "pending_minutes": self.values.get("pending_minutes"),
        }
