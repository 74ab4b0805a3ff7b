"""Waits for the end of a workload. The command then exits as the workload did."""

from collections.abc import Iterator

import typer

from trainyard_cli import lookup
from trainyard_cli.commands.describe import Name
from trainyard_cli.errors import CliError, ExitCode
from trainyard_cli.invocation import Invocation, ProjectName, current_invocation
from trainyard_cli.notes import print_note
from trainyard_cli.rest.pulses import pulses
from trainyard_cli.show import Item

ENDED_PHASES = {"Completed", "Failed", "Stopped", "Deleted"}
MOST_PODS = 500


def watch(context: typer.Context, name: Name, project: ProjectName = "") -> None:
    """Print each change of a workload until it ends, and exit with its result."""
    invocation = current_invocation(context)
    workload = lookup.find_workload(invocation, name, project)
    raise_unless_completed(invocation, wait_for_end(invocation, workload["id"]))


def wait_for_end(invocation: Invocation, workload_id: str) -> Item:
    """Return the workload once it has ended. Every change of its phase goes to standard error."""
    state = ""
    for workload in _states(invocation, workload_id):
        if (line := _describe_phase(workload)) != state:
            state = line
            print_note(line)
        if workload["phase"] in ENDED_PHASES:
            return workload
    raise AssertionError("the states end with the last one")


def _states(invocation: Invocation, workload_id: str) -> Iterator[Item]:
    """Yield the workload now and after each change, across outages of Trainyard.

    Raises ``CliError`` if the workload is deleted.
    """
    for _ in pulses(invocation.client, workloadId=workload_id):
        try:
            yield invocation.client.get(f"/workloads/{workload_id}")
        except CliError as error:
            if error.code == ExitCode.NOT_FOUND:
                message = "The workload was deleted while it was waited for."
                raise CliError(message, code=ExitCode.REFUSED) from error
            if error.code != ExitCode.UNREACHABLE:
                raise


def _exit_codes(workload: Item, pods: list[Item]) -> list[int | None]:
    """Return the exit codes of pods, the most telling first.

    That is the code of the rank whose log explains the failure, then those of pods that failed, the
    earliest first: later ones were ended because of it.
    """
    line = (workload["failure"] or {}).get("line") or {}

    def sort_key(pod: Item) -> tuple[bool, bool, str]:
        decisive = pod["rank"] == line.get("rank")
        failed = pod["k8sPhase"] == "Failed"
        return not decisive, not failed, pod["completedAt"] or "later"

    return [pod["exitCode"] for pod in sorted(pods, key=sort_key)]


def _describe_phase(workload: Item) -> str:
    cause = workload["cause"]
    why = cause["title"] if cause else workload["phaseMessage"]
    return f"{workload['name']}: {workload['phase']}{f' ({why})' if why else ''}"


def raise_unless_completed(invocation: Invocation, workload: Item) -> None:
    """Raise ``CliError`` unless the workload succeeded. It has the exit code of the rank that
    failed, if there is one."""
    if workload["phase"] == "Completed":
        return
    code = int(ExitCode.REFUSED)
    if workload["phase"] == "Failed":
        answer = invocation.client.get(f"/workloads/{workload['id']}/pods", limit=MOST_PODS)
        codes = _exit_codes(workload, answer["pods"])
        code = next((it for it in codes if it and 0 < it < 256), code)
    failure = workload["failure"]
    todo = f"{failure['sentence']} {failure['repair']}" if failure else ""
    raise CliError(f"{workload['name']} is {workload['phase']}.", todo, code=code)
