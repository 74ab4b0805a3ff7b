"""Section: command, arguments, variables and working directory."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assets.environment.variables import CELLS, VALUE
from core.forms.field import Input
from core.forms.read import field_items
from core.forms.shown import ShownField
from spec.imports.directives import split_lines
from spec.values.variable import MASK
from workloads.plan import Plan
from workloads.wizard.sections.base import (
    Question,
    ReviewLine,
    Section,
    reviewed_replica,
    reviewed_spec,
)
from workloads.wizard.sections.container.variables import REPACK

if TYPE_CHECKING:
    from workloads.wizard.choices.offers import Offer


class VariablesQuestion(Question):
    def add_details(self, shown: ShownField, plan: Plan, offer: "Offer") -> None:
        """Ask for the source of each variable's value, unless there is only one, and offer the
        credentials that a variable can use."""
        has_other_source = any(item.by_slug["source"].value for item in shown.items)
        for item in shown.items:
            if item.by_slug["value"].value == MASK:
                item.note = f"Hidden. The value is kept as long as the field says {MASK}."
            source = item.by_slug["source"]
            source.hidden = not (has_other_source or offer.variable_sources - {VALUE})
            item.by_slug["key"].hidden = source.hidden
            possible = offer.variable_sources | {source.value}
            source.options = [option for option in source.options if option[0] in possible]
        variables = field_items(self.values_in(plan.draft) or {}, self)
        offer.credentials.ask_for_variables(zip(shown.items, variables, strict=True))


def review(plan: Plan, role: str) -> Iterator[ReviewLine]:
    replica = reviewed_replica(plan, role)
    command = " ".join(part for part in (replica.command, replica.args) if part)
    yield "Command", command or "the image's own", f"{role}.command"
    if replica.environment_variables:
        names = ", ".join(variable.name for variable in replica.environment_variables)
        yield "Environment variables", names, ""
    if replica.working_dir:
        yield "Working directory", replica.working_dir, f"{role}.workingDir"
    if role == "worker" and (setup := reviewed_spec(plan).setup):
        yield "Setup commands", "\n".join(setup), "setup"
    if role == "worker" and (script := reviewed_spec(plan).batch_script):
        count = len(split_lines(script))
        yield "Batch script", f"{count} lines, in place of the command", "batchScript"


COMMAND = Section(
    "command",
    replica=(
        Question("image", "Image"),
        Question(
            "command",
            "Command",
            hint="Replaces the image's entry point, or runs alone where no image is pulled.",
            placeholder="python train.py",
        ),
        Question(
            "args",
            "Arguments",
            hint="Separate several with spaces, such as --epochs=3 --lr=0.1",
            placeholder="--epochs=3",
        ),
        Question("workingDir", "Working directory"),
        VariablesQuestion(
            "environmentVariables",
            "Environment variables",
            Input.ROWS,
            cells=CELLS,
            repack=REPACK,
        ),
    ),
    once=(
        Question(
            "setup",
            "Setup commands",
            Input.SCRIPT,
            hint="Shell lines that run before the command of each rank, in the same shell. "
            "If one fails, the rank fails.",
        ),
    ),
    review=review,
)
