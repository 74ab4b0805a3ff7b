"""Lists workloads, and formats what other commands show of them."""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated

import typer

from trainyard_cli.errors import CliError, ExitCode, wrong_use
from trainyard_cli.invocation import (
    AllProjects,
    Invocation,
    NoHeaders,
    Output,
    Project,
    ProjectName,
    current_invocation,
)
from trainyard_cli.notes import print_note
from trainyard_cli.rest.pulses import pulses
from trainyard_cli.show import (
    Format,
    Item,
    TextColumn,
    format_age,
    format_duration,
    format_number,
    print_list,
)

Status = Annotated[
    str, typer.Option("--status", help="Only those in this phase, such as Running or Failed.")
]
Search = Annotated[str, typer.Option("--search", help="Only those with this in name or image.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=500, help="How many at most.")]
Offset = Annotated[int, typer.Option("--offset", min=0, help="How many to skip.")]
Watch = Annotated[bool, typer.Option("--watch", "-w", help="Continue with a line for each change.")]

COLUMNS = (
    TextColumn("NAME", lambda it: it["name"]),
    TextColumn("STATUS", lambda it: it["phase"]),
    TextColumn("AGE", lambda it: format_age(it["createdAt"])),
    TextColumn("NODE", lambda it: node_of(it)),
    TextColumn("IMAGE", lambda it: ", ".join(it["images"])),
    TextColumn("TYPE", lambda it: type_of(it)),
    TextColumn("PROJECT", lambda it: it["projectName"]),
    TextColumn("USER", lambda it: it["submittedBy"]),
    TextColumn("GPUS ALLOCATED (REQUESTED)", lambda it: gpus_of(it)),
    TextColumn("PODS RUNNING (PENDING)", lambda it: pods_of(it)),
    TextColumn("SERVICE URL(S)", lambda it: ", ".join(it["urls"]) or "–"),
    TextColumn("RUNNING FOR", lambda it: format_duration(it["totalRunningTimeSeconds"]), wide=True),
    TextColumn("REASON", lambda it: it["phaseReason"] or "–", wide=True),
    TextColumn("ID", lambda it: it["id"], wide=True),
)
#: What a list with ``--watch`` shows of a deleted workload.
DELETED: Item = {
    "phase": "Deleted",
    "runningPods": 0,
    "allocatedResources": {"gpu": 0},
    "actionsSupport": {"suspend": False},
}


def list_workloads(
    context: typer.Context,
    project: ProjectName = "",
    all_projects: AllProjects = False,
    status: Status = "",
    search: Search = "",
    limit: Limit = 50,
    offset: Offset = 0,
    output: Output = None,
    no_headers: NoHeaders = False,
    watch: Watch = False,
) -> None:
    """List workloads, the newest first."""
    if watch and output in {Format.JSON, Format.YAML}:
        raise wrong_use("--watch prints a line for each change: leave -o json or yaml out.")
    invocation = current_invocation(context)
    filters = [*invocation.filters, *([f"phase=={status.capitalize()}"] if status else [])]
    target = None if all_projects else invocation.project(project)
    if target:
        filters.append(f"projectId=={target['id']}")
    query = {"filterBy": filters, "search": search or None, "limit": limit, "offset": offset}
    read = partial(
        invocation.client.get, "/workloads", **query, sortBy="createdAt", sortOrder="desc"
    )
    where = target["name"] if target else ""
    in_words = f" in project {where}" if where else ""
    narrowed = invocation.filters or status or search or offset
    empty = f"No workloads{in_words} match." if narrowed else f"No workloads{in_words} yet."
    page = _read_page(read) if status else read()
    if target and not page["workloads"]:
        invocation.check_project(target)
    _print_page(page, output, where, empty, headers=not no_headers)
    if watch:
        for workload in _changed_workloads(invocation, target, read, page["workloads"]):
            print_list([workload], COLUMNS, output, headers=False)
            sys.stdout.flush()


def _read_page(read: Callable[[], Item]) -> Item:
    """Read a page, and report a refused query as a fault of ``--status``: its other parts were
    checked before."""
    from trainyard_cli.rest.client import Refusal

    try:
        return read()
    except Refusal as refusal:
        if not refusal.issues:
            raise
        raise wrong_use(f"--status: {refusal.issues[0][1]}") from refusal


def _changed_workloads(
    invocation: Invocation, target: Project | None, read: Callable[[], Item], first: list[Item]
) -> Iterator[Item]:
    """Yield each workload that is new, changed or deleted, without an end.

    ``read`` reads the page, and ``first`` is what it showed before.
    """
    last = {it["id"]: it for it in first}
    printed = {
        key: _compared_cells(it) for key, it in last.items()
    }  # also of those that left the page
    for _ in pulses(invocation.client, projectId=target and target["id"]):
        page = {it["id"]: it for it in read()["workloads"]}
        for key in last.keys() - page.keys():
            if _is_deleted(invocation, key):
                yield last[key] | DELETED
        for key in reversed(page):
            row = _compared_cells(page[key])
            if printed.get(key) != row:
                printed[key] = row
                yield page[key]
        last = page


def _is_deleted(invocation: Invocation, workload_id: str) -> bool:
    """Whether a workload that left the page was deleted. It may only match no longer, or be too old
    for it."""
    try:
        invocation.client.get(f"/workloads/{workload_id}")
    except CliError as error:
        return error.code == ExitCode.NOT_FOUND
    return False


def _compared_cells(workload: Item) -> list[str]:
    """Return the cells that decide whether a workload changed: all but those that change every
    second."""
    return [it.text(workload) for it in COLUMNS if it.head not in {"AGE", "RUNNING FOR"}]


def _print_page(
    page: Item, output: Format | None, where: str, empty: str, *, headers: bool
) -> None:
    is_table = output in {None, Format.WIDE, Format.TABLE}
    if where and is_table and headers:
        print(f"Showing jobs for project {where}")
    print_list(page["workloads"], COLUMNS, output, headers=headers, empty=empty)
    sys.stdout.flush()
    if page["next"] and is_table:
        print_note(f"There are more: --offset {page['next']}")


def node_of(workload: Item) -> str:
    """Return the node of a workload, ``<multiple>`` if it has several, and a dash if it has none
    yet."""
    nodes: list[str] = workload["nodes"]
    if not nodes:
        return "–"
    return nodes[0] if len(nodes) == 1 else "<multiple>"


def type_of(workload: Item) -> str:
    """Return the type of a workload: its framework, or its kind if it has none."""
    return str(workload["distributedFramework"] or workload["type"])


def pods_of(workload: Item) -> str:
    """Return the number of running pods, with that of pending ones in parentheses."""
    running = workload["runningPods"]
    requested = workload["requestedPods"]["number"]
    pending = requested - running if workload["actionsSupport"]["suspend"] else 0
    return f"{running} ({pending})"


def gpus_of(workload: Item) -> str:
    """Return the number of allocated GPUs, with that of requested ones in parentheses."""
    allocated, requested = (
        format_number(workload[key]["gpu"])
        for key in ("allocatedResources", "workloadRequestedResources")
    )
    return f"{allocated} ({requested})"
