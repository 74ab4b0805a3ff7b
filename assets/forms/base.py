"""What the forms of all assets share: where the asset belongs, its name, and the spec's verdict."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.forms import BaseFormSet

from accounts.models import User
from assets.scopes import Holder, Place, Scope
from clusters.models import Cluster
from core.forms import Form
from projects.models import Department, Project
from spec.errors import Problem, SpecError


class AssetForm(Form):
    """Cluster, scope, name and description. Subclasses add what the asset holds.

    ``FIELDS`` maps the wire path of a value to the field that shows it, so that the spec's verdict
    lands where it belongs. ``rows`` are formsets by the wire name of their list.
    """

    FIELDS: dict[str, str] = {}
    NEEDED: tuple[str, ...] = ("name",)

    cluster = forms.ChoiceField(label="Cluster")
    scope = forms.ChoiceField(label="Scope", help_text="Who can use it: everyone who works there.")
    name = forms.CharField(label="Name", required=False)
    description = forms.CharField(label="Description", required=False)

    def __init__(self, *args: Any, user: User, place: Place | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.rows: dict[str, BaseFormSet[Any]] = {}
        self.places = places_of(user)
        cluster = str(self.initial.get("cluster") or "")
        clusters = {str(p.cluster.pk): p.cluster.name for p in self.places.values()}
        self._choices("cluster", list(clusters.items()))
        self._choices("scope", grouped(self.places, cluster if len(clusters) > 1 else ""))
        if place is not None:
            self.initial.update(cluster=str(place.cluster.pk), scope=key(place))

    def _choices(self, name: str, choices: list[Any]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 -- declared above
        field.choices = choices

    def is_valid(self) -> bool:
        """The form itself and each of its rows. The values are judged later, by the spec."""
        rows = [formset.is_valid() for formset in self.rows.values()]
        return super().is_valid() and all(rows)

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        place = self.places.get(data.get("scope", ""))
        if place and data.get("cluster") and str(place.cluster.pk) != data["cluster"]:
            self.add_error("scope", f"{place.holder} belongs to the cluster {place.cluster}.")
        return data

    @property
    def place(self) -> Place:
        return self.places[self.cleaned_data["scope"]]

    def document(self) -> dict[str, Any]:
        """The asset's values under their wire names."""
        raise NotImplementedError

    def columns(self) -> dict[str, Any]:
        """Values that live beside the document."""
        return {}

    def add_problems(self, error: SpecError) -> None:
        for problem in error.problems:
            self._add_problem(problem)

    def _add_problem(self, problem: Problem) -> None:
        match problem.path:
            case (str(head), int(index), *rest) if head in self.rows:
                used = [form for form in self.rows[head].forms if form.is_used]
                row = used[index]
                name = _cell(row, rest)
                label = row.fields[name].label if name else ""
                row.add_error(name, sentence(problem.message, label))
            case (str(head),) if head in self.rows:
                self.add_error(None, f"{_title(head)}: {problem.message}")
            case path:
                name = self.FIELDS.get(".".join(map(str, path)), str(path[-1]))
                if name in self.fields:
                    self.add_error(name, sentence(problem.message, self.fields[name].label))
                else:
                    self.add_error(None, f"{problem.field}: {problem.message}")


def sentence(message: str, subject: Any = "") -> str:
    """``is required`` as ``Name is required``; a message with its own subject stays."""
    if subject and message.startswith(("is ", "must ", "has ")):
        return f"{subject} {message}."
    return f"{message[:1].upper()}{message[1:]}"


def _cell(form: Any, rest: Iterable[Any]) -> str | None:
    """The field of a row for the end of a path: its dotted whole, or its last step we know."""
    steps = [str(step) for step in rest]
    for wire in (".".join(steps), *reversed(steps)):
        if wire in form.WIRE:
            return str(form.WIRE[wire])
    return None


def _title(name: str) -> str:
    return {"environmentVariables": "Environment variables", "connections": "Tools"}.get(name, name)


def key(place: Place) -> str:
    return f"{place.scope}:{place.holder.pk}"


def places_of(user: User) -> dict[str, Place]:
    """Where this user may create assets, by the value of the scope field."""
    projects = Project.objects.visible_to(user).for_list()
    holders: list[Holder] = []
    if user.is_administrator:
        holders += Cluster.objects.all()
        holders += Department.objects.select_related("cluster")
    holders += projects
    return {key(place): place for place in map(Place, holders)}


def grouped(places: dict[str, Place], cluster: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Choices under one heading a scope, of one cluster when it is known."""
    groups: dict[str, list[tuple[str, str]]] = {}
    several = len({place.cluster.pk for place in places.values()}) > 1 and not cluster
    for value, place in places.items():
        if cluster and str(place.cluster.pk) != cluster:
            continue
        label = Scope(place.scope).label
        heading = f"{place.cluster} · {label}" if several else label
        groups.setdefault(heading, []).append((value, str(place)))
    return list(groups.items())
