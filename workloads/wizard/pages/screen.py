"""Build one page of the wizard for its template."""

from collections import defaultdict
from dataclasses import dataclass

from core.forms.shown import ShownField
from spec.draft import WorkloadDraft
from workloads.models import Draft
from workloads.plan import Plan
from workloads.wizard.choices.offers import Offer
from workloads.wizard.pages.inputs import Fold, page_inputs
from workloads.wizard.pages.problems import locate_problems
from workloads.wizard.pages.steps import (
    OpenProblem,
    Step,
    has_master,
    last_label,
    open_problems,
    page_address,
    rail_steps,
    workers_label,
)
from workloads.wizard.sections import table
from workloads.wizard.sections.base import ROLES
from workloads.wizard.sections.resources.size import PROCESSES, SIZE


@dataclass
class Screen:
    """Page ``page`` of a draft and its plan. ``complete``: there are no problems, so that the
    workload can be created from any page. ``open`` are the problems to fix now, ``later`` those of
    later pages."""

    draft: Draft
    plan: Plan
    page: int
    inputs: list[ShownField]
    folds: list[Fold]
    steps: list[Step]
    open_problems: list[OpenProblem]
    later_problems: list[OpenProblem]
    is_complete: bool

    @property
    def content(self) -> WorkloadDraft:
        return self.plan.draft

    @property
    def title(self) -> str:
        if self.draft.edits:
            return str(self.draft)
        if self.content.is_template:
            return "New template"
        return f"New {self.content.traits.noun}"

    @property
    def name_example(self) -> str:
        return f"my-first-{self.content.traits.noun}"

    @property
    def address(self) -> str:
        return page_address(self.draft, self.page)

    @property
    def role(self) -> str:
        return ROLES.get(self.page, "worker")

    @property
    def has_master(self) -> bool:
        return has_master(self.plan)

    @property
    def workers_label(self) -> str:
        return workers_label(self.plan)

    @property
    def last_label(self) -> str:
        return last_label(self.plan)

    @property
    def workload_inputs(self) -> dict[str, ShownField]:
        """Inputs for the workload as a whole, by name."""
        return {it.name: it for it in self.inputs if not it.field.within}

    @property
    def replica_inputs(self) -> dict[str, ShownField]:
        """Inputs for the page's role, worker or master, by key."""
        return {it.field.key: it for it in self.inputs if it.field.within}

    @property
    def command_inputs(self) -> list[ShownField]:
        """Inputs for command and arguments of the page's role."""
        return [it for key, it in self.replica_inputs.items() if key in {"command", "args"}]

    @property
    def has_command(self) -> bool:
        """Whether command or arguments have a value, a rule, a note or an error."""
        return any(
            shown.is_given or shown.is_noted or shown.invalid or (shown.rule and shown.rule.value)
            for shown in self.command_inputs
        )

    @property
    def inputs_with_notes(self) -> list[ShownField]:
        """Inputs that may show a note or an error, of their own or of an item."""
        return [
            shown
            for shown in self.inputs
            if shown.is_noted or shown.items or shown.inherited or shown.removed
        ]

    @property
    def size_inputs(self) -> list[ShownField]:
        names = {it.name for section in (SIZE, PROCESSES) for it in section.questions_on(self.page)}
        return [it for it in self.inputs if it.name in names]


def build_screen(draft: Draft, plan: Plan, page: int, *, focus: str = "") -> Screen:
    """Build a page. ``focus`` is ``problem`` to put the cursor on the first invalid field, or the
    name of a list or of an input in one, to open its section."""
    located = list(locate_problems(plan))
    offer = Offer(plan.cluster, plan.project, by=draft.owner)
    inputs = list(page_inputs(plan, page, offer, located, set(draft.touched)))
    first_invalid = next((shown for shown in inputs if shown.invalid), None)
    if focus == "problem" and first_invalid:
        first_invalid.focus = True
    now, later = open_problems(draft, plan, page, located)
    return Screen(
        draft,
        plan,
        page,
        inputs=inputs,
        folds=_folds(inputs, page, offer, focus),
        steps=list(rail_steps(draft, plan, page, located)),
        open_problems=now,
        later_problems=later,
        is_complete=not located,
    )


def _folds(inputs: list[ShownField], page: int, offer: Offer, focus: str) -> list[Fold]:
    """Return the sections that can be opened, on a page that asks about a role. The section with
    ``focus`` is open."""
    has_roles = any(shown.name == "roles" for shown in inputs)
    if page not in ROLES or not (has_roles or any(shown.field.within for shown in inputs)):
        return []
    by_name = {shown.name: shown for shown in inputs}
    by_section: defaultdict[str, list[ShownField]] = defaultdict(list)
    for question in table.questions_on(page):
        if question.name in by_name:
            by_section[question.section].append(by_name[question.name])
    return [
        Fold(
            section,
            by_section[section.key],
            why_missing=offer.why_missing(section),
            has_focus=_contains_input(by_section[section.key], focus),
        )
        for section in table.SECTIONS
        if section.template and (by_section[section.key] or not has_roles)
    ]


def _contains_input(inputs: list[ShownField], name: str) -> bool:
    return any(it.name == name or name.startswith(f"{it.name}-") for it in inputs)
