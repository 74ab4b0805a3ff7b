"""One page of the wizard as its template reads it: values, notes, errors, steps."""

from functools import cached_property

from django.urls import reverse

from assets.forms.rows import VariableForm, variable_initial
from assets.models import Environment
from spec.draft import ReplicaDraft, Values, WorkloadDraft, is_blank
from spec.errors import Problem
from spec.workload import Architecture
from workloads.forms import cells, durations, nested, words
from workloads.forms.fields import (
    FIELDS,
    GENERAL,
    PAGES,
    on,
    replica_of,
    value_of,
    values_of,
)
from workloads.forms.kinds import MASTER, SETUP, Field, Kind, Option
from workloads.forms.offers import Offer
from workloads.forms.runtime_fields import READINESS, RUNTIME
from workloads.forms.scheduling_fields import SCHEDULING, SIZE
from workloads.forms.shown import Fold, Open, Row, Shown, Step
from workloads.forms.storage_fields import STORAGE
from workloads.models import Draft
from workloads.plan import Plan


class Screen:
    """Page ``page`` of a draft under a plan. ``focus``: put the cursor on the first bad field."""

    def __init__(self, draft: Draft, made: Plan, page: int, *, focus: bool = False) -> None:
        self.draft, self.plan, self.page = draft, made, page
        self.touched = set(draft.touched)
        self.found = list(words.problems(made))
        self.offer = Offer(made.cluster)
        shown = {item.name: self._show(item) for item in on(page) if self._has(item)}
        self.fields = {name: it for name, it in shown.items() if not it.field.role}
        self.replica = {it.field.key: it for it in shown.values() if it.field.role}
        self.all = list(shown.values())
        sections = [RUNTIME, READINESS, STORAGE, SCHEDULING, GENERAL] if page != SETUP else []
        self.folds = {key: self._fold(key) for key in sections if self.replica}
        self.size = self._fold(SIZE).fields
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
    def open(self) -> list[Open]:
        """Every problem once, in the order of the pages: those of this page and earlier ones, and
        those that the author was told at the field."""
        return [it for it in self._problems if it.shown or it.field.page <= self.page]

    @property
    def later(self) -> list[Open]:
        """One for each field that is asked for on a later page."""
        told = self.open
        return list({it.field.name: it for it in self._problems if it not in told}.values())

    @cached_property
    def _problems(self) -> list[Open]:
        order = {item.name: number for number, item in enumerate(FIELDS)}
        found = sorted(self.found, key=lambda pair: order[pair[0].name])
        return [
            Open(
                item,
                words.sentence(item, problem),
                self._address(item, problem),
                item.name in self.touched,
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

    def _address(self, item: Field, problem: Problem) -> str:
        here = "" if item.page == self.page else self.address(item.page)
        number = self._number_of(item, problem)
        cell = item.cell_of(problem.path) if number is not None else None
        return f"{here}#{item.name}-{number}-{cell.slug}" if cell else f"{here}#{item.name}"

    def address(self, page: int) -> str:
        return reverse("draft-step", args=[self.draft.pk, page])

    def _has(self, item: Field) -> bool:
        """Whether the page shows a field that only some frameworks and clusters have; where they
        have it not, only to empty it. Lists are there to be filled by their buttons."""
        if item.kind is Kind.ITEMS or value_of(values_of(self.content, item) or {}, item):
            return True
        fits = item.framework in {"", self.content.framework}
        return fits and not self.offer.why_not(item.section)

    def _fold(self, section: str) -> Fold:
        fields = [it for it in self.all if it.field.section == section]
        return Fold(section, fields, self.offer.why_not(section))

    def _show(self, item: Field) -> Shown:
        replica = replica_of(self.content, item.role) if item.role else None
        shown = Shown(item, why_not=self.offer.why_no(item.key))
        values = values_of(self.content, item) or {}
        if item.kind is Kind.CHOICE or item.key == "name":
            shown.value = getattr(replica if item.role else self.content, item.key, "")
        elif item.kind is Kind.DURATION:
            shown.value, shown.unit = durations.split(values.get(item.key), unit=item.unit)
        elif item.kind is Kind.ROWS:
            shown.rows = [_row(row) for row in values.get(item.key, [])]
            shown.sources = self._sources(item, shown.rows)
        elif item.kind is Kind.ITEMS:
            shown.items = cells.show_all(item, values, self.offer.choices)
        else:
            given = nested.get(values, item.key)
            shown.value = "" if given is None else given
            if item.kind is Kind.SELECT:
                made = cells.choose(str(shown.value), item, self.offer.choices)
                shown.value, shown.options = made
        if item.name in self.touched:
            self._add_errors(shown)
        if item.key == "name":
            shown.ok = self._free_name()
        self._add_origin(shown, replica)
        return shown

    def _sources(self, item: Field, rows: list[Row]) -> tuple[Option, ...]:
        """Where the value of a variable may come from, where there is more than one place."""
        elsewhere = any(row.source != "value" for row in rows)
        asks = item.key == "environmentVariables" and (self.offer.is_kubernetes or elsewhere)
        return VariableForm.SOURCES if asks else ()

    def _free_name(self) -> str:
        project = self.plan.project
        bad = any(item.key == "name" for item, _ in self.found)
        return "" if bad or not project else f"Free in {project.name}"

    def _add_errors(self, shown: Shown) -> None:
        for item, problem in self.found:
            if item is shown.field:
                target = self._errors_at(shown, problem)
                if (text := words.sentence(item, problem)) not in target:
                    target.append(text)

    def _errors_at(self, shown: Shown, problem: Problem) -> list[str]:
        """Those of the row or cell that a problem is about, or else of the field."""
        if row := self._row_of(shown, problem):
            return row.errors
        number, cell = self._number_of(shown.field, problem), shown.field.cell_of(problem.path)
        if number is None or not shown.field.cells:
            return shown.errors
        its = shown.items[number].cells
        return next((it.errors for it in its if it.cell is cell), its[0].errors)

    def _number_of(self, item: Field, problem: Problem) -> int | None:
        """Which of the field's items an index of the plan's list means: the draft's has blank ones
        between, and those of other fields."""
        at = problem.path[len(item.path)] if len(problem.path) > len(item.path) else None
        values = values_of(self.content, item)
        if item.kind is not Kind.ITEMS or not isinstance(at, int) or values is None:
            return None
        filled = [given for given in nested.items(values, item.key) if not is_blank(given)]
        mine = [given for given in nested.items(values, item.key) if item.holds(given)]
        found = (
            number for number, given in enumerate(mine) if at < len(filled) and given is filled[at]
        )
        return next(found, None)

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
        theirs = nested.get(environment.spec_json, shown.field.key)
        if shown.field.kind is Kind.ROWS:
            _inherit(shown, theirs or [], environment)
        elif theirs not in nested.EMPTY and shown.field.kind in {Kind.TEXT, Kind.WHOLE}:
            verb = "Uses" if shown.value in nested.EMPTY else "Replaces"
            shown.origin = f"{verb} {theirs} from environment {environment.name}."

    def _environment(self, replica: ReplicaDraft | None) -> Environment | None:
        chosen = replica.environment if replica else None
        return next((it for it in self.plan.environments if it.pk == chosen), None)


def _row(row: Values) -> Row:
    told = variable_initial(row)
    name, value = str(told.get("name", "")), str(told.get("value") or "")
    return Row(name, value, source=told["source"], key=str(told.get("key", "")))


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
