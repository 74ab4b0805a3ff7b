"""Pools: names by which OSMO's files and command line know projects."""

import json
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Annotated, Optional

import typer

from trainyard_cli.commands.workflows import FormatType
from trainyard_cli.invocation import ProjectName, current_invocation
from trainyard_cli.notes import print_note
from trainyard_cli.osmo import TextOrJson, print_table
from trainyard_cli.show import Item, format_number

NO_QUOTA = -1
PoolName = Annotated[str, typer.Argument(help="The name of the pool.")]


class PoolMode(str, Enum):
    """Values of ``--mode``."""

    USED = "used"
    FREE = "free"


#: Heads of the columns of each mode, and the keys of their values.
COLUMNS: dict[PoolMode, dict[str, str]] = {
    PoolMode.USED: {
        "Quota Used": "quota_used",
        "Quota Limit": "quota_limit",
        "Total Usage": "total_usage",
        "Total Capacity": "total_capacity",
    },
    PoolMode.FREE: {"Quota Free": "quota_free", "Total Free": "total_free"},
}


def add(app: typer.Typer, _: Sequence[str]) -> None:
    """Add the commands."""
    group = typer.Typer(help="Pools: names of projects in OSMO's files.", no_args_is_help=True)
    group.command("list")(list_pools)
    group.command("set")(set_pool)
    group.command("delete")(delete)
    app.add_typer(group, name="pool")


def list_pools(
    context: typer.Context,
    pool: Annotated[
        Optional[list[str]],  # noqa: UP045 -- read at run time
        typer.Option("--pool", "-p", help="Only this pool; may be repeated."),
    ] = None,
    mode: Annotated[
        PoolMode, typer.Option("--mode", "-m", help="GPUs that are used, or free.")
    ] = PoolMode.USED,
    format_type: FormatType = TextOrJson.TEXT,
) -> None:
    """List pools, and projects that are in none, with their GPUs."""
    client = current_invocation(context).client
    answer = client.get("/osmo/pool_quota", pools=list(pool or ()))
    if format_type is TextOrJson.JSON:
        print(json.dumps(answer, indent=2))
        return
    rows = [row for nodes in answer["node_sets"] for row in nodes["pools"]]
    if not rows:
        print("There are no pools to view.")
        return
    columns = COLUMNS[mode]
    heads = ["Pool", "Description", "Status", *(f"GPU [#] {head}" for head in columns)]
    print_table(heads, [_cells(row, columns.values()) for row in rows])


def _cells(row: Item, keys: Iterable[str]) -> list[str]:
    counts = (row["resource_usage"][key] for key in keys)
    numbers = ["-" if count == NO_QUOTA else format_number(count) for count in counts]
    return [row["name"], row["description"] or "-", row["status"], *numbers]


def set_pool(
    context: typer.Context,
    name: PoolName,
    project: ProjectName = "",
    description: Annotated[str, typer.Option(help="What it is for.")] = "",
) -> None:
    """Create a pool that is a project, or lead one to another project. For administrators."""
    invocation = current_invocation(context)
    chosen = invocation.project(project)
    body = {"projectId": str(chosen["id"]), "description": description}
    answer = invocation.client.send("PUT", f"/pools/{name}", body)
    print_note(f"The pool {name} is the project {answer['projectName']}.")


def delete(context: typer.Context, name: PoolName) -> None:
    """Delete a pool. Its project and the workflows there stay. For administrators."""
    current_invocation(context).client.delete(f"/pools/{name}")
    print_note(f"The pool {name} was deleted.")
