"""Verbs first, as Run:ai's first CLI has them: ``list jobs``, ``describe job``, ``delete job``."""

from collections.abc import Sequence

import typer

from trainyard_cli.commands import places, workloads


def add(app: typer.Typer, _: Sequence[str]) -> None:
    listed = typer.Typer(help="List workloads, projects, clusters, nodes.")
    listed.callback(invoke_without_command=True)(_list_all)
    listed.command("jobs")(workloads.list_every)
    listed.command("projects")(places.list_projects)
    listed.command("clusters")(places.list_clusters)
    listed.command("nodes")(places.list_nodes)
    app.add_typer(listed, name="list")


def _list_all(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        workloads.list_every(context)
