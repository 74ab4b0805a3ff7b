"""Submits a batch script, as people pass it to ``sbatch``."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from trainyard_cli.commands.attach import follow
from trainyard_cli.commands.options import ATTACH, WAIT
from trainyard_cli.commands.submit import print_dry_run, print_warnings
from trainyard_cli.errors import reason_of, wrong_use
from trainyard_cli.invocation import Invocation, Output, ProjectName, current_invocation
from trainyard_cli.notes import LogLevel, print_note
from trainyard_cli.show import Format, print_document

PATH = "/workloads/from-sbatch"
STANDARD_INPUT = "-"
Script = Annotated[Path, typer.Argument(help="The batch script; - reads standard input.")]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(help="Arguments of the script; put -- first if one begins with a dash."),
]
Name = Annotated[str, typer.Option("--name", "-J", help="Name, instead of the job's.")]
AsWorkload = Annotated[
    bool,
    typer.Option("--as-workload", help="Start what its srun starts, not the script."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Submit nothing; try it.")]


def add(app: typer.Typer, _: Sequence[str]) -> None:
    """Add the command."""
    app.command("submit-sbatch")(submit_sbatch)


def submit_sbatch(
    context: typer.Context,
    script: Script,
    arguments: Arguments = None,
    name: Name = "",
    project: ProjectName = "",
    as_workload: AsWorkload = False,
    dry_run: DryRun = False,
    wait: Annotated[bool, typer.Option("--wait", help=WAIT)] = False,
    attach: Annotated[bool, typer.Option("--attach", help=ATTACH)] = False,
    output: Output = None,
) -> None:
    """Submit a batch script, which runs as it stands, except on Kubernetes."""
    invocation = current_invocation(context)
    target = invocation.project(project)
    body: dict[str, Any] = {"projectId": target["id"], "clusterId": target["clusterId"]}
    body |= {"script": read_text(script), "name": name}
    if not name and str(script) != STANDARD_INPUT:
        body["fileName"] = script.name
    if words := [*(arguments or ()), *invocation.words]:
        body["arguments"] = words
    if as_workload:
        body["asItStands"] = False
    answer = _send(invocation, body, output, rehearses=dry_run)
    if answer and (wait or attach):
        for workload in answer["workloads"]:
            follow(invocation, workload["workloadId"], attach=attach)


def read_text(file: Path) -> str:
    """Return the text of a file, or of standard input for ``-``. Raises ``CliError``."""
    is_input = str(file) == STANDARD_INPUT
    content = b""
    try:
        content = sys.stdin.buffer.read() if is_input else file.read_bytes()
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        text = f"line {line} has bytes that are not UTF-8; save it as UTF-8"
        raise wrong_use(f"{file} cannot be read: {text}.") from error
    except OSError as error:
        raise wrong_use(f"{file} cannot be read: {reason_of(error)}.") from error


def _send(
    invocation: Invocation, body: dict[str, Any], output: Format | None, *, rehearses: bool
) -> Any:
    """Send the script, and return the answer, or ``None`` after a dry run. Print remarks about its
    lines on standard error."""
    from trainyard_cli.rest.client import Refusal

    try:
        answer = invocation.client.post(PATH, body, dryRun="true" if rehearses else None)
    except Refusal as refusal:
        refusal.lines = [f"  {_where(field)}: {text}" for field, text in refusal.issues]
        raise
    for it in answer["notes"]:
        print_note(f"line {it['line']}: {it['text']}", LogLevel.WARN)
    if rehearses:
        print_dry_run(answer["plan"], output)
        return None
    print_warnings(answer["workload"])
    names = [workload["name"] for workload in answer["workloads"]]
    if len(names) == 1:
        print_submitted(names[0], answer, output)
    elif output is Format.NAME:
        print("\n".join(names))
    elif not print_document(answer, output):
        print(f"Submitted {len(names)} workloads: {names[0]} to {names[-1]}.", flush=True)
    return answer


def print_submitted(name: str, answer: Any, output: Format | None) -> None:
    """Print what was submitted: its name, or the answer in the format of ``output``."""
    if output is Format.NAME:
        print(name)
    elif not print_document(answer, output):
        print(f"Submitted {name}.", flush=True)
        print_note(f"Follow it: trainyard describe job {name}")


def _where(field: str) -> str:
    """Return where a problem is: a line of the script, or a field of its request."""
    head, _, number = field.partition(".")
    return f"line {number}" if head == "script" and number.isdigit() else field
