"""Forms about users, groups and keys. ``accounts.services`` validates the values."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.http import QueryDict
from django.utils import timezone

from accounts.models import AccessRole, GeneralSettings, GroupMembership, User, UserGroup
from accounts.permissions import PERMISSION_SETS, PERMISSIONS, RESOURCES, resource_label
from accounts.roles import sets_of
from core.forms.field import Field, Input, Values
from core.forms.form import Form


def password_field(label: str) -> Field:
    hint = "At least 8 characters. The user can change it in the account menu."
    return Field("password", label, Input.SECRET, hint, required=True)


USER_FIELDS = (
    Field("first_name", "First name"),
    Field("last_name", "Last name"),
    Field("email", "Email"),
)
SIGN_IN_FIELDS = (Field("username", "Username", required=True), password_field("Initial password"))
ROLE_FIELD = Field(
    "role",
    "Role in the whole account",
    Input.SELECT,
    "Most people have roles only in projects, departments or clusters.",
    choices="roles",
)


def password_form(posted: QueryDict | None) -> Form:
    return Form((password_field("New password"),), {}, posted)


class GroupForm(Form):
    """The name and the members of a group. Members from the identity provider cannot be changed."""

    def __init__(self, posted: QueryDict | None, *, group: UserGroup | None = None) -> None:
        provided = GroupMembership.objects.filter(group=group, provided=True)
        provided_names = list(provided.values_list("user__username", flat=True)) if group else []
        members = list(group.memberships.filter(provided=False)) if group else []
        member_ids = [membership.user_id for membership in members]
        is_offered = Q(is_active=True) | Q(pk__in=member_ids)  # deactivated members stay
        people = User.objects.filter(is_offered).exclude(username__in=provided_names)
        self.people = {str(user.pk): user for user in people.order_by("username")}
        initial: Values = {
            "name": group.name if group else "",
            "people": [str(user_id) for user_id in member_ids],
        }
        offered = {"people": [(pk, str(user)) for pk, user in self.people.items()]}
        names = ", ".join(provided_names)
        hint = f"From the identity provider: {names}." if names else ""
        fields = (
            Field(
                "name",
                "Group name",
                hint="The name tools refer to. It cannot be changed later.",
                required=True,
            ),
            Field("people", "Members", Input.BOXES, hint, choices="people"),
        )
        fixed = ("name",) if group else ()
        super().__init__(fields, initial, posted, offered=offered, fixed=fixed)

    def selected_people(self) -> list[User]:
        return [self.people[pk] for pk in self.values.get("people", ())]


NO_ACCESS = ""


class RoleForm(Form):
    """The name of a custom role, and for each resource which permission set it has."""

    def __init__(self, posted: QueryDict | None, *, role: AccessRole | None = None) -> None:
        sets = sets_of(role) if role else []
        initial: Values = {
            "name": role.name if role else "",
            "description": role.description if role else "",
        }
        fields = [Field("name", "Role name", required=True), Field("description", "Description")]
        for resource in RESOURCES:
            options = [(NO_ACCESS, "No access")]
            for prefix, label in (("view", "View"), ("manage", "Manage")):
                if f"{prefix}-{resource}" in PERMISSION_SETS:
                    options.append((f"{prefix}-{resource}", label))
            label = resource_label(resource).capitalize()
            fields.append(Field(resource, label, Input.SELECT, options=tuple(options)))
            values = [value for value, _ in options]
            initial[resource] = next((it for it in sets if it in values), NO_ACCESS)
        super().__init__(fields, initial, posted)

    def service_values(self) -> dict[str, Any]:
        """Return the values as keyword arguments of the services for roles."""
        chosen = [str(self.values.get(resource, "")) for resource in RESOURCES]
        return {
            "name": str(self.values.get("name", "")),
            "description": str(self.values.get("description", "")),
            "permission_sets": [it for it in chosen if it],
        }


NEVER = "never"
EVERYTHING = "everything"
READING = "reading"
KEY_LIFETIMES = (
    ("7", "7 days"),
    ("30", "30 days"),
    ("90", "90 days"),
    ("365", "1 year"),
    (NEVER, "Never"),
)
KEY_PERMISSIONS = ((EVERYTHING, "Everything that you may do"), (READING, "Reading only"))


class KeyForm(Form):
    """A key with one of a few lifetimes. REST accepts any time, and any set of permissions."""

    def __init__(self, posted: QueryDict | None) -> None:
        fields = (
            Field("name", "Name", hint="Its purpose, such as nightly-training.", required=True),
            Field("lives", "Expires after", Input.SELECT, options=KEY_LIFETIMES),
            Field("covers", "Permissions", Input.SELECT, options=KEY_PERMISSIONS),
        )
        super().__init__(fields, {"lives": "90", "covers": EVERYTHING}, posted)

    @property
    def expires_at(self) -> datetime | None:
        days = str(self.values.get("lives", NEVER))
        return None if days == NEVER else timezone.now() + timedelta(days=int(days))

    @property
    def scopes(self) -> list[str]:
        if self.values.get("covers") != READING:
            return []
        return sorted(name for name in PERMISSIONS if name.endswith(".read"))


#: The general settings. All of them are about the wizard.
SETTING_FIELDS = (
    Field(
        "tolerations",
        "Tolerations",
        Input.FLAG,
        "The wizard asks for the taints of nodes that pods tolerate.",
    ),
    Field(
        "topology",
        "Topology",
        Input.FLAG,
        "The wizard asks whether pods run close together, such as in one zone.",
    ),
)


def settings_form(posted: QueryDict | None, settings: GeneralSettings) -> Form:
    initial: Values = {field.key: getattr(settings, field.key) for field in SETTING_FIELDS}
    return Form(SETTING_FIELDS, initial, posted)


def text_values(form: Form, *fields: Field) -> dict[str, str]:
    """Return the values of these fields as texts, by key, for the services."""
    return {field.key: str(form.values.get(field.key, "")) for field in fields}
