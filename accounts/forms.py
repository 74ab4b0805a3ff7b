"""Forms about users. The verbs in ``accounts.services`` judge the values."""

from typing import Any

from django import forms

from accounts.models import Role, User
from core.forms import Form


def every_project() -> Any:
    """All projects, through the relation: the package of projects stands above this one."""
    related = User._meta.get_field("projects").related_model
    return related._default_manager.order_by("name")


def new_password(label: str) -> forms.CharField:
    return forms.CharField(
        label=label,
        strip=False,
        required=False,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        help_text="At least 8 characters. Hand it over; it can be changed in the account menu.",
    )


class EditUserForm(Form):
    first_name = forms.CharField(label="First name", required=False)
    last_name = forms.CharField(label="Last name", required=False)
    email = forms.CharField(label="E-mail", required=False)
    role = forms.ChoiceField(
        label="Role",
        choices=Role.choices,
        initial=Role.RESEARCHER,
        help_text="Administrators see and change everything.",
    )
    projects = forms.ModelMultipleChoiceField(
        label="Projects",
        queryset=User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = self.fields["projects"]
        assert isinstance(chosen, forms.ModelMultipleChoiceField)  # noqa: S101 -- declared above
        chosen.queryset = every_project()

    def values(self) -> dict[str, Any]:
        data = {**self.cleaned_data}
        return data | {"projects": [project.pk for project in data["projects"]]}


class UserForm(EditUserForm):
    NEEDED = ("username", "password")
    field_order = ("username", "password")

    username = forms.CharField(
        label="Username", required=False, widget=forms.TextInput({"autocomplete": "off"})
    )
    password = new_password("First password")


class PasswordForm(Form):
    NEEDED = ("password",)
    password = new_password("New password")


class KeyForm(Form):
    name = forms.CharField(
        label="Name", max_length=63, help_text="What will use it, such as nightly-training."
    )
