"""Commands with the verb first, as in Run:ai's first command line: ``list jobs``, ``describe job``,
``delete job``."""

from collections.abc import Sequence
from functools import wraps
from typing import Annotated, Any

import typer

from trainyard_cli import lookup
from trainyard_cli.commands import (
    attach,
    describe,
    diff,
    forward,
    logs,
    places,
    terminal,
    waiting,
    workloads,
)
from trainyard_cli.errors import wrong_use
from trainyard_cli.invocation import WITH_MORE, Invocation, ProjectName, current_invocation
from trainyard_cli.notes import print_note
from trainyard_cli.show import Item, format_duration

Names = Annotated[list[str], typer.Argument(help="Names or ids of workloads.")]


def add(app: typer.Typer, _: Sequence[str]) -> None:
    """Add the verbs, and the group ``workload``."""
    listed = typer.Typer(help="List workloads, projects, clusters, nodes.")
    listed.callback(invoke_without_command=True)(_list_all)
    listed.command("jobs")(workloads.list_workloads)
    listed.command("projects")(places.list_projects)
    listed.command("clusters")(places.list_clusters)
    listed.command("nodes")(places.list_nodes)
    app.add_typer(listed, name="list")
    described = _add_group(app, "describe", "Show one workload or node in full.")
    described.command("job")(describe.describe)
    described.command("node")(places.describe_node)
    _add_group(app, "delete", "Delete workloads.").command("job")(delete)
    _add_rank_commands(app)
    app.command("suspend")(suspend)
    app.command("resume")(resume)
    app.command("extend")(extend)
    app.command("diff")(diff.diff)
    workload = typer.Typer(help="Workloads of every kind.", no_args_is_help=True)
    add_verbs(workload)
    app.add_typer(workload, name="workload")


def add_verbs(group: typer.Typer) -> None:
    """Add the commands for existing workloads to a group."""
    group.command("list")(workloads.list_workloads)
    group.command("describe")(describe.describe)
    group.command("export")(describe.export)
    group.command("diff")(diff.diff)
    _add_rank_commands(group)
    group.command("watch")(waiting.watch)
    group.command("suspend")(suspend)
    group.command("resume")(resume)
    group.command("extend")(extend)
    group.command("delete")(delete)


def _add_rank_commands(group: typer.Typer) -> None:
    group.command("logs")(logs.logs)
    group.command("attach")(attach.attach)
    group.command("exec", context_settings=WITH_MORE)(terminal.execute)
    group.command("bash")(terminal.bash)
    group.command("port-forward")(forward.port_forward)


def _add_group(app: typer.Typer, name: str, text: str) -> typer.Typer:
    """Add a verb whose nouns are its commands."""
    group = typer.Typer(help=text, no_args_is_help=True)
    group.callback()(lambda: None)  # without it, typer drops the name of a single command
    app.add_typer(group, name=name)
    return group


@wraps(workloads.list_workloads)
def _list_all(context: typer.Context, **options: Any) -> None:
    if context.invoked_subcommand is None:
        workloads.list_workloads(context, **options)
        return
    sources = [context.get_parameter_source(name) for name in options]
    if any(source and source.name == "COMMANDLINE" for source in sources):
        what = context.invoked_subcommand
        raise wrong_use("Options go after the command.", f"Write: trainyard list {what} …")


def delete(context: typer.Context, names: Names, project: ProjectName = "") -> None:
    """Delete workloads, including running ones."""
    for workload in lookup.find_workloads(current_invocation(context), names, project):
        answer = current_invocation(context).client.delete(lookup.path_of(workload))
        print_note(answer["message"])


def suspend(context: typer.Context, names: Names, project: ProjectName = "") -> None:
    """Stop workloads. Their definitions and checkpoints are kept."""
    _post_verb(current_invocation(context), names, project, "suspend")


def resume(context: typer.Context, names: Names, project: ProjectName = "") -> None:
    """Run workloads again that were stopped, failed or completed."""
    _post_verb(current_invocation(context), names, project, "resume")


def extend(context: typer.Context, names: Names, project: ProjectName = "") -> None:
    """Extend the limits that your workloads have from scheduling rules, once."""
    invocation = current_invocation(context)
    for workload in lookup.find_workloads(invocation, names, project):
        limits = invocation.client.post(f"/workloads/{workload['id']}/extend")["ruleLimits"]
        print_note(f"{workload['name']} {_limits_in_words(limits)}.")


def _limits_in_words(limits: Item) -> str:
    """Say how long a workload may run, and leave its GPUs idle, by its limits from rules."""
    texts = []
    if limits["timeLimitSeconds"] is not None:
        texts.append(f"may run for {format_duration(limits['timeLimitSeconds'])}")
    if limits["idleGpuLimitSeconds"] is not None:
        idle = format_duration(limits["idleGpuLimitSeconds"])
        texts.append(f"may leave its GPUs idle for {idle}")
    return " and ".join(texts)


def _post_verb(invocation: Invocation, names: Sequence[str], project: str, verb: str) -> None:
    for workload in lookup.find_workloads(invocation, names, project):
        answer = invocation.client.post(f"{lookup.path_of(workload)}/{verb}")
        print_note(answer["message"])
