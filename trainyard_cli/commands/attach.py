"""Follows a workload to its end. The command then exits as the workload did."""

from typing import Annotated

import typer

from trainyard_cli import lookup
from trainyard_cli.commands import logs, waiting
from trainyard_cli.commands.describe import Name
from trainyard_cli.errors import CliError, ExitCode
from trainyard_cli.invocation import Invocation, ProjectName, current_invocation
from trainyard_cli.notes import LogLevel, print_note
from trainyard_cli.show import Item


def attach(
    context: typer.Context,
    name: Name,
    project: ProjectName = "",
    pod: Annotated[str, typer.Option(help="One pod, such as worker-0.")] = "",
) -> None:
    """Print the logs of a workload to its end, and exit with its result. Ctrl-C leaves it running.

    Keys do not reach it: open a shell with bash, or run a command with exec.
    """
    invocation = current_invocation(context)
    workload = lookup.find_workload(invocation, name, project)
    print_to_end(invocation, workload, logs.find_rank(invocation, workload, pod) if pod else "all")
    waiting.raise_unless_completed(invocation, waiting.wait_for_end(invocation, workload["id"]))


def follow(invocation: Invocation, workload_id: str, *, attach: bool) -> None:
    """Follow a workload that was just submitted, with its logs or only its phases.

    Raises ``CliError`` with its exit code if it does not succeed.
    """
    if attach:
        print_to_end(invocation, invocation.client.get(f"/workloads/{workload_id}"))
    waiting.raise_unless_completed(invocation, waiting.wait_for_end(invocation, workload_id))


def print_to_end(invocation: Invocation, workload: Item, rank: str = "all") -> None:
    """Print its logs until it ends. If Trainyard cannot be reached meanwhile, they stop with a
    note."""
    try:
        logs.print_logs(invocation, workload, rank=rank, follow="true")
    except CliError as error:
        if error.code != ExitCode.UNREACHABLE:
            raise
        print_note(f"trainyard: {error}\nWaiting for its end instead.", LogLevel.WARN)
