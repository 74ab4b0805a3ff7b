"""Rows that can be added and removed: variables, tools, extended resources."""

from typing import Any, cast

from django import forms
from django.forms import BaseFormSet, formset_factory

from core.forms import Form
from spec.environment import TOOLS, Access, ConnectionType

MOST_ROWS = 200


class RowForm(Form):
    """``WIRE`` maps wire names to fields; a row without ``KEY`` counts as absent."""

    WIRE: dict[str, str] = {}
    KEY = "name"

    @property
    def is_used(self) -> bool:
        data = self.cleaned_data
        return not data.get("DELETE") and any(data.get(f) for f in self.filled_by())

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if isinstance(field.widget, forms.TextInput | forms.NumberInput):
                field.widget.attrs["placeholder"] = field.label or ""

    def filled_by(self) -> tuple[str, ...]:
        return (self.KEY,)

    def item(self) -> dict[str, Any]:
        raise NotImplementedError


class VariableForm(RowForm):
    WIRE = {
        "name": "name",
        "value": "value",
        "description": "description",
        "secret.name": "value",
        "configMap.name": "value",
        "podFieldRef.path": "value",
        "key": "key",
    }
    SOURCES = (
        ("value", "Custom value"),
        ("secret", "Secret"),
        ("configMap", "ConfigMap"),
        ("podFieldRef", "Pod field"),
    )
    name = forms.CharField(label="Name", required=False)
    source = forms.ChoiceField(label="Source", choices=SOURCES, required=False)
    value = forms.CharField(label="Value", required=False, strip=False)
    key = forms.CharField(label="Key", required=False)
    description = forms.CharField(label="Instructions", required=False)

    def filled_by(self) -> tuple[str, ...]:
        return ("name", "value", "key", "description")

    def item(self) -> dict[str, Any]:
        data = self.cleaned_data
        item = variable(
            data.get("name", ""),
            data.get("source") or "",
            data.get("value") or "",
            data.get("key", ""),
        )
        if data.get("description"):
            item["description"] = data["description"]
        return item


def variable(name: str, source: str, value: str, key: str) -> dict[str, Any]:
    """One variable: ``value`` is that, the name of a Secret or ConfigMap, or a path in the pod."""
    if source in {"secret", "configMap"}:
        return {"name": name, source: {"name": value, "key": key}}
    if source == "podFieldRef":
        return {"name": name, source: {"path": value}}
    return {"name": name, "value": value}


def variable_initial(item: dict[str, Any]) -> dict[str, Any]:
    for source in ("secret", "configMap"):
        if of := item.get(source):
            return {**item, "source": source, "value": of["name"], "key": of["key"]}
    if of := item.get("podFieldRef"):
        return {**item, "source": "podFieldRef", "value": of["path"]}
    return {**item, "source": "value"}


class ToolForm(RowForm):
    WIRE = {
        "toolType": "tool_type",
        "connectionType": "connection_type",
        "containerPort": "container_port",
        "nodePort": "node_port",
        "externalUrl": "external_url",
        "name": "name",
        "authorizationType": "access",
        "authorizedUsers": "who",
        "authorizedGroups": "who",
    }
    KEY = "tool_type"
    ACCESS = [("", "Whoever sees the workload"), *((kind.value, kind.label) for kind in Access)]
    CONNECTIONS = [(kind.value, kind.label) for kind in ConnectionType]
    tool_type = forms.ChoiceField(
        label="Tool", choices=[("", "Select a tool"), *TOOLS.items()], required=False
    )
    name = forms.CharField(label="Name", required=False)
    connection_type = forms.ChoiceField(
        label="Connection type", choices=CONNECTIONS, required=False
    )
    container_port = forms.IntegerField(label="Container port", required=False)
    node_port = forms.IntegerField(label="Custom node port", required=False)
    external_url = forms.CharField(label="Custom URL", required=False)
    access = forms.ChoiceField(label="Who may access", choices=ACCESS, required=False)
    who = forms.CharField(label="Names, comma-separated", required=False)

    def __init__(
        self, *args: Any, offers_urls: bool, begins: ConnectionType, **kwargs: Any
    ) -> None:
        """``offers_urls``: to whom has none yet. A new row ``begins`` with a type that works."""
        super().__init__(*args, **kwargs)
        field = self.fields["connection_type"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 -- declared above
        field.initial = begins
        url = ConnectionType.EXTERNAL_URL
        if not offers_urls and self["connection_type"].value() != url:
            field.choices = [it for it in self.CONNECTIONS if it[0] != url]

    def item(self) -> dict[str, Any]:
        data = self.cleaned_data
        values = {wire: data.get(field) for wire, field in self.WIRE.items()}
        names = [name.strip() for name in (data.get("who") or "").split(",") if name.strip()]
        for access in (Access.USERS, Access.GROUPS):
            values[access.value] = names if names and data.get("access") == access else None
        values["name"] = values["name"] or TOOLS[data["tool_type"]]
        return {wire: value for wire, value in values.items() if value not in (None, "")}


class ExtendedForm(RowForm):
    WIRE = {"resource": "resource", "quantity": "quantity"}
    KEY = "resource"
    resource = forms.CharField(label="Resource", required=False)
    quantity = forms.CharField(label="Quantity", required=False)

    def filled_by(self) -> tuple[str, ...]:
        return ("resource", "quantity")

    def item(self) -> dict[str, Any]:
        return {
            "resource": self.cleaned_data["resource"],
            "quantity": self.cleaned_data["quantity"],
        }


class Rows(BaseFormSet):  # type: ignore[type-arg]  # not subscriptable at run time
    """``spare`` rows stand in for the button that adds one where no script runs."""

    SPARE = 3

    @property
    def spare_total(self) -> int:
        return self.total_form_count() + self.SPARE

    @property
    def spare(self) -> list[forms.BaseForm]:
        first = self.total_form_count()
        return [self._spare(index) for index in range(first, first + self.SPARE)]

    def _spare(self, index: int) -> forms.BaseForm:
        form: forms.BaseForm = self.form(
            prefix=self.add_prefix(index), empty_permitted=True, **self.get_form_kwargs(None)
        )
        self.add_fields(form, None)
        return form


def _rows(form: type[RowForm]) -> type[Rows]:
    return cast(
        type[Rows],
        formset_factory(form, formset=Rows, extra=0, can_delete=True, max_num=MOST_ROWS),
    )


VariableRows = _rows(VariableForm)
ToolRows = _rows(ToolForm)
ExtendedRows = _rows(ExtendedForm)


def items(formset: "BaseFormSet[Any]") -> list[dict[str, Any]]:
    return [form.item() for form in formset.forms if form.is_used]
