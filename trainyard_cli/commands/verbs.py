"""Commands that stop workloads, run them again, and delete them."""

from collections.abc import Sequence
from typing import Annotated

import typer

from trainyard_cli import lookup
from trainyard_cli.invocation import Invocation, ProjectName, of
from trainyard_cli.notes import note

Names = Annotated[list[str], typer.Argument(help="Names or ids of workloads.")]


def delete(context: typer.Context, names: Names, project: ProjectName = "") -> None:
    """Delete workloads, including running ones."""
    for workload in lookup.find_all(of(context), names, project):
        answer = of(context).client.delete(lookup.path_of(workload))
        note(answer["message"])


def suspend(context: typer.Context, names: Names, project: ProjectName = "") -> None:
    """Stop workloads. Their definitions and checkpoints are kept."""
    _act(of(context), names, project, "suspend")


def resume(context: typer.Context, names: Names, project: ProjectName = "") -> None:
    """Run stopped workloads again."""
    _act(of(context), names, project, "resume")


def _act(invocation: Invocation, names: Sequence[str], project: str, verb: str) -> None:
    for workload in lookup.find_all(invocation, names, project):
        answer = invocation.client.post(f"{lookup.path_of(workload)}/{verb}")
        note(answer["message"])
