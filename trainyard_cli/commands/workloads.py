"""What there is to know of workloads, and to do with them."""

import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated

import typer

from trainyard_cli.errors import wrong_use
from trainyard_cli.invocation import (
    AllProjects,
    NoHeaders,
    Output,
    ProjectName,
    of,
)
from trainyard_cli.notes import note
from trainyard_cli.rest.pulses import pulses
from trainyard_cli.show import Format, Item, TextColumn, age, duration, listing, number

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
    TextColumn("AGE", lambda it: age(it["createdAt"])),
    TextColumn("IMAGE", lambda it: ", ".join(it["images"])),
    TextColumn("TYPE", lambda it: type_of(it)),
    TextColumn("PROJECT", lambda it: it["projectName"]),
    TextColumn("USER", lambda it: it["submittedBy"]),
    TextColumn("GPUS ALLOCATED (REQUESTED)", lambda it: gpus_of(it)),
    TextColumn("PODS RUNNING (PENDING)", lambda it: pods_of(it)),
    TextColumn("RUNNING FOR", lambda it: duration(it["totalRunningTimeSeconds"]), wide=True),
    TextColumn("REASON", lambda it: it["phaseReason"] or "–", wide=True),
    TextColumn("ID", lambda it: it["id"], wide=True),
)


def list_every(
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
    invocation = of(context)
    filters = [*invocation.filters, *([f"phase=={status}"] if status else [])]
    place = None if all_projects else invocation.project(project)
    if place:
        filters.append(f"projectId=={place['id']}")
    query = {"filterBy": filters, "search": search or None, "limit": limit, "offset": offset}
    read = partial(
        invocation.client.get, "/workloads", **query, sortBy="createdAt", sortOrder="desc"
    )
    where = place["name"] if place else ""
    in_words = f" in project {where}" if where else ""
    narrowed = invocation.filters or status or search or offset
    none = f"No workloads{in_words} match." if narrowed else f"No workloads{in_words} yet."
    _show(page := read(), output, where, none, headers=not no_headers)
    if watch:
        _follow(pulses(invocation.client, projectId=place and place["id"]), read, page, output)


def _follow(
    changes: Iterable[None], read: Callable[[], Item], page: Item, output: Format | None
) -> None:
    """A line for each workload that came or changed, as long as someone reads."""
    if output in {Format.JSON, Format.YAML}:
        raise wrong_use("--watch prints a line for each change: leave -o json or yaml out.")
    printed = {it["id"]: _row(it) for it in page["workloads"]}
    for _ in changes:
        page = read()
        for workload in reversed(page["workloads"]):
            if printed.get(workload["id"]) != (row := _row(workload)):
                printed[workload["id"]] = row
                listing([workload], COLUMNS, output, headers=False)
                sys.stdout.flush()


def _row(workload: Item) -> list[str]:
    """What of it a reader looks at, without what changes by the second."""
    return [it.text(workload) for it in COLUMNS if it.head not in {"AGE", "RUNNING FOR"}]


def _show(page: Item, output: Format | None, where: str, none: str, *, headers: bool) -> None:
    is_table = output in {None, Format.WIDE, Format.TABLE}
    if where and is_table and headers:
        print(f"Showing jobs for project {where}")
    listing(page["workloads"], COLUMNS, output, headers=headers, empty=none)
    sys.stdout.flush()
    if page["next"] and is_table:
        note(f"There are more: --offset {page['next']}")


def type_of(workload: Item) -> str:
    """As people know it: the framework, or that there is none."""
    return str(workload["distributedFramework"] or workload["type"])


def pods_of(workload: Item) -> str:
    running, requested = workload["runningPods"], workload["requestedPods"]["number"]
    pending = requested - running if workload["actionsSupport"]["suspend"] else 0
    return f"{running} ({pending})"


def gpus_of(workload: Item) -> str:
    allocated, requested = (
        number(workload[key]["gpu"]) for key in ("allocatedResources", "workloadRequestedResources")
    )
    return f"{allocated} ({requested})"
