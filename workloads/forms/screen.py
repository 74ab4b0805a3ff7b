"""One page of the wizard as its template reads it: values, notes, errors, steps."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from assets.models import Environment
from spec.draft import ReplicaDraft, Values, WorkloadDraft
from spec.errors import Problem
from spec.workload import Architecture
from workloads.forms import durations, words
from workloads.forms.fields import FIELDS, MASTER, PAGES, SETUP, Field, Kind, on, replica_of
from workloads.models import Draft
from workloads.plan import Plan


@dataclass
class Row:
    """One name and value; ``overrides`` says what of the environment it replaces."""

    name: str
    value: str
    errors: list[str] = dataclasses.field(default_factory=list)
    overrides: str = ""


@dataclass
class Shown:
    """A field with what the draft holds. ``errors`` are empty until the author left the field."""

    field: Field
    value: Any = ""
    unit: str = "sec"
    rows: list[Row] = dataclasses.field(default_factory=list)
    inherited: list[Row] = dataclasses.field(default_factory=list)
    errors: list[str] = dataclasses.field(default_factory=list)
    origin: str = ""
    ok: str = ""
    focus: bool = False

    @property
    def name(self) -> str:
        return self.field.name

    @property
    def add_label(self) -> str:
        """The button that adds a row, as Run:ai writes it."""
        return f"+{self.field.label.removesuffix('s').upper()}"

    @property
    def invalid(self) -> bool:
        return bool(self.errors) or any(row.errors for row in self.rows)


@dataclass(frozen=True)
class Open:
    """A problem for the summary. Only of a ``shown`` one the author was told at the field."""

    field: Field
    text: str
    address: str
    shown: bool


@dataclass(frozen=True)
class Step:
    number: int
    label: str
    errors: int
    done: bool
    current: bool
    reachable: bool


class Screen:
    """Page ``page`` of a draft under a plan. ``focus``: put the cursor on the first bad field."""

    def __init__(self, draft: Draft, made: Plan, page: int, *, focus: bool = False) -> None:
        self.draft, self.plan, self.page = draft, made, page
        self.touched = set(draft.touched)
        self.found = list(words.problems(made))
        shown = {item.name: self._show(item) for item in on(page)}
        self.fields = {name: it for name, it in shown.items() if not it.field.role}
        self.replica = {it.field.key: it for it in shown.values() if it.field.role}
        self.all = list(shown.values())
        first = next((it for it in self.all if it.invalid), None)
        if focus and first:
            first.focus = True

    @property
    def content(self) -> WorkloadDraft:
        return self.plan.draft

    @property
    def here(self) -> str:
        return self.address(self.page)

    @property
    def units(self) -> list[str]:
        return list(durations.UNITS)

    @property
    def compute_lead(self) -> str:
        cluster = self.plan.cluster
        virtual = bool(cluster and cluster.has_virtual_gpus)
        note = " GPUs here are virtual: accounting units that run on the CPU." if virtual else ""
        return f"What each pod asks of its node.{note}"

    @property
    def complete(self) -> bool:
        """Nothing is left to fill in: it can be created from any page."""
        return not self.found

    @property
    def role(self) -> str:
        return "master" if self.page == MASTER else "worker"

    @property
    def has_master(self) -> bool:
        return self.content.architecture != Architecture.WORKERS_ONLY

    @property
    def last_label(self) -> str:
        return "Master" if self.has_master else "Review"

    @property
    def placed(self) -> bool:
        """Cluster and project are chosen, so that every page can be filled in."""
        return self.plan.project is not None

    @property
    def changed_settings(self) -> int:
        """How many of the general settings of this page are not at their default."""
        replica = replica_of(self.content, self.role)
        given = replica.given if replica else {}
        of_replica = sum(key in given for key in ("labels", "annotations"))
        whole = self.content.given if self.role == "worker" else {}
        return (
            of_replica
            + sum(it.field.key in whole for it in self.fields.values())
            - ("numWorkers" in whole)
        )

    @property
    def settings_invalid(self) -> bool:
        keys = {"backoffLimit", "terminationGracePeriodSeconds"}
        keys |= {"autoDeletionTimeAfterCompletionSeconds", "labels", "annotations"}
        return any(it.invalid for it in self.all if it.field.key in keys)

    @property
    def open(self) -> list[Open]:
        """Every problem once, in the order of the pages."""
        order = {item.name: number for number, item in enumerate(FIELDS)}
        found = sorted(self.found, key=lambda pair: order[pair[0].name])
        return [
            Open(
                item, words.sentence(item, problem), self._address(item), item.name in self.touched
            )
            for item, problem in found
        ]

    @property
    def errors(self) -> int:
        """How many problems this page shows."""
        return sum(item.page == self.page and item.name in self.touched for item, _ in self.found)

    @property
    def steps(self) -> list[Step]:
        return [self._step(page) for page in PAGES]

    def _step(self, page: int) -> Step:
        pages = [item for item, _ in self.found if item.page == page]
        visited = page <= self.draft.step if page != SETUP else bool(self.touched)
        return Step(
            number=page,
            label={1: "Setup", 2: "Workers"}.get(page, self.last_label),
            errors=sum(item.name in self.touched for item in pages),
            done=visited and not pages and self.placed,
            current=page == self.page,
            reachable=page == SETUP or self.placed,
        )

    def _address(self, item: Field) -> str:
        here = "" if item.page == self.page else self.address(item.page)
        return f"{here}#{item.name}"

    def address(self, page: int) -> str:
        return reverse("draft-step", args=[self.draft.pk, page])

    def _show(self, item: Field) -> Shown:
        shown = Shown(item)
        replica = replica_of(self.content, item.role) if item.role else None
        values = replica.values if replica else self.content.values
        if item.kind is Kind.CHOICE or item.key == "name":
            shown.value = getattr(replica if item.role else self.content, item.key, "")
        elif item.kind is Kind.DURATION:
            shown.value, shown.unit = durations.split(values.get(item.key), unit=item.unit)
        elif item.kind is Kind.ROWS:
            shown.rows = [_row(row) for row in values.get(item.key, [])]
        else:
            shown.value = values.get(item.key, "")
        if item.name in self.touched:
            self._add_errors(shown)
        if item.key == "name":
            shown.ok = self._free_name()
        self._add_origin(shown, replica)
        return shown

    def _free_name(self) -> str:
        project = self.plan.project
        bad = any(item.key == "name" for item, _ in self.found)
        return "" if bad or not project else f"Free in {project.name}"

    def _add_errors(self, shown: Shown) -> None:
        for item, problem in self.found:
            if item is shown.field:
                row = self._row_of(shown, problem)
                target = row.errors if row else shown.errors
                if (text := words.sentence(item, problem)) not in target:
                    target.append(text)

    def _row_of(self, shown: Shown, problem: Problem) -> Row | None:
        """The row on the page that an item of the resolved list came from."""
        if shown.field.kind is not Kind.ROWS or len(problem.path) < 3:
            return None
        role, key, index = problem.path[:3]
        items = self.plan.document.get(str(role), {}).get(key, [])
        item = items[index] if isinstance(index, int) and index < len(items) else {}
        same = (row for row in shown.rows if row.name == item.get("name"))
        return next((row for row in same if row.name or row.value), None)

    def _add_origin(self, shown: Shown, replica: ReplicaDraft | None) -> None:
        origin = self.plan.origins.get(shown.field.dotted, "")
        if origin.startswith("template "):
            shown.origin = f"From {origin}."
        environment = self._environment(replica)
        if environment is None:
            return
        theirs = environment.spec_json.get(shown.field.key)
        if shown.field.kind is Kind.ROWS:
            _inherit(shown, theirs or [], environment)
        elif theirs and shown.field.kind is Kind.TEXT:
            verb = "Replaces" if shown.value else "Uses"
            shown.origin = f"{verb} {theirs} from environment {environment.name}."

    def _environment(self, replica: ReplicaDraft | None) -> Environment | None:
        chosen = replica.environment if replica else None
        return next((it for it in self.plan.environments if it.pk == chosen), None)


def _row(row: Values) -> Row:
    return Row(str(row.get("name", "")), str(row.get("value") or ""))


def _inherit(shown: Shown, theirs: list[Values], environment: Environment) -> None:
    mine = {row.name: row for row in shown.rows}
    for item in theirs:
        row = mine.get(item["name"])
        if row:
            row.overrides = f"Replaces the one of environment {environment.name}."
        else:
            value = item.get("value")
            words_ = item.get("description") or ("" if value is not None else "set by the cluster")
            shown.inherited.append(Row(item["name"], value or "", overrides=words_))
