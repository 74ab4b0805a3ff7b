"""Commands inside a task of a workflow, with the options of OSMO's command line."""

import shlex
import sys
from typing import Annotated

import typer

from trainyard_cli.commands.forward import forward_ports, parse_ports
from trainyard_cli.commands.logs import find_rank
from trainyard_cli.commands.terminal import run_program
from trainyard_cli.errors import CliError, ExitCode, wrong_use
from trainyard_cli.invocation import Invocation, current_invocation
from trainyard_cli.show import Item

WorkflowId = Annotated[str, typer.Argument(help="The ID of a workflow, such as train-3.")]
TaskName = Annotated[str, typer.Argument(help="The name of a task.")]


def execute(
    context: typer.Context,
    workflow_id: WorkflowId,
    task: TaskName,
    entry: Annotated[str, typer.Option("--entry", help="The command; a shell unless given.")] = "",
    keep_alive: Annotated[bool, typer.Option(hidden=True)] = False,  # OSMO's; it is the rule here
    connect_timeout: Annotated[int, typer.Option(hidden=True)] = 0,  # OSMO's; nothing waits here
) -> None:
    """Open a shell in a task that runs, or run a command there and exit with its exit code."""
    invocation = current_invocation(context)
    if entry and invocation.words:
        raise wrong_use("Give the command once, by --entry or after --.")
    words = shlex.split(entry) or invocation.words
    workload, rank = _find_running(invocation, workflow_id, task)
    has_terminal = sys.stdin.isatty()
    run_program(
        invocation, workload, rank, words, typed=has_terminal or not words, tty=has_terminal
    )


def port_forward(
    context: typer.Context,
    workflow_id: WorkflowId,
    task: TaskName,
    port: Annotated[
        list[str],
        typer.Option(
            "--port",
            metavar="LOCAL:REMOTE",
            help="80 is 80:80; :80 takes a free one here. Several with commas, or repeated.",
        ),
    ],
    host: Annotated[
        str, typer.Option(help="Where to listen; 0.0.0.0 lets other machines in.")
    ] = "127.0.0.1",
    connect_timeout: Annotated[int, typer.Option(hidden=True)] = 0,  # OSMO's; nothing waits here
) -> None:
    """Reach ports of a task that runs at ports of this machine, until Ctrl-C."""
    invocation = current_invocation(context)
    pairs = [parse_ports(text.strip()) for texts in port for text in texts.split(",")]
    workload, rank = _find_running(invocation, workflow_id, task)
    forward_ports(invocation, workload, rank, pairs, host)


def _find_running(invocation: Invocation, workflow_id: str, task: str) -> tuple[Item, str]:
    """Return the workload of a task, and the number of its rank. ``CliError`` unless the task is
    one of the workflow and has started."""
    workflow = invocation.client.get(f"/workflows/{workflow_id}")
    pairs = [(group, it) for group in workflow["groups"] for it in group["tasks"]]
    for group, candidate in pairs:
        if candidate["name"] == task:
            if not group["workloadId"] or group["status"] != "RUNNING":
                raise CliError(f"{task} does not run; its group is {group['status']}.")
            workload = {"id": group["workloadId"], "name": group["workloadName"]}
            return workload, find_rank(invocation, workload, candidate["pod"])
    names = ", ".join(it["name"] for _, it in pairs)
    message = f"{workflow_id} has no task {task}."
    raise CliError(message, f"Its tasks are: {names}.", code=ExitCode.NOT_FOUND)
