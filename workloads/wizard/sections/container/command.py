"""Section: command, arguments, variables and working directory."""

from collections.abc import Iterator

from assets.environment.variables import CELLS
from core.forms.field import Input
from workloads.plan import Plan
from workloads.wizard.sections.base import Line, Question, Section, replica_of, spec_of
from workloads.wizard.sections.container.variables import REPACK


def review(plan: Plan, role: str) -> Iterator[Line]:
    replica = replica_of(plan, role)
    command = " ".join(part for part in (replica.command, replica.args) if part)
    yield "Command", command or "the image's own", f"{role}.command"
    if replica.environment_variables:
        names = ", ".join(variable.name for variable in replica.environment_variables)
        yield "Environment variables", names, ""
    if replica.working_dir:
        yield "Working directory", replica.working_dir, f"{role}.workingDir"
    if role == "worker" and (setup := spec_of(plan).setup):
        yield "Setup commands", "\n".join(setup), "setup"
    if role == "worker" and (script := spec_of(plan).batch_script):
        count = len(script.splitlines())
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
        Question(
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
