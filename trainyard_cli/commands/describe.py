"""Shows one workload in full: what it is, its pods, its events, and the command that submits it."""

from collections.abc import Iterator
from enum import Enum
from typing import Annotated

import typer

from trainyard_cli import lookup
from trainyard_cli.commands.workloads import gpus_of, pods_of, type_of
from trainyard_cli.errors import wrong_use
from trainyard_cli.invocation import Output, ProjectName, current_invocation
from trainyard_cli.show import (
    Format,
    Item,
    format_age,
    format_duration,
    format_memory,
    join_sentences,
    print_columns,
    print_document,
    print_facts,
)

PARTS = "spec,pods,events,commandLine"
LONGEST_LINE = 4000  # characters of a command line
Name = Annotated[str, typer.Argument(help="Name or id of a workload.")]


class EventOrder(str, Enum):
    """The order of events."""

    ASC = "asc"
    DESC = "desc"


def describe(
    context: typer.Context,
    name: Name,
    project: ProjectName = "",
    pod_limit: Annotated[int, typer.Option(min=0, help="How many pods to list.")] = 10,
    event_limit: Annotated[int, typer.Option(min=0, help="How many events to list.")] = 50,
    sort_events: Annotated[
        EventOrder, typer.Option("--sort-events", "--sortEvents", help="asc: the oldest first.")
    ] = EventOrder.ASC,
    general: Annotated[
        bool, typer.Option(help="What it is, and how it is.", show_default=False)
    ] = True,
    compute: Annotated[
        bool, typer.Option(help="What it requests and holds.", show_default=False)
    ] = True,
    pods: Annotated[bool, typer.Option(help="Its pods.", show_default=False)] = True,
    events: Annotated[bool, typer.Option(help="What happened.", show_default=False)] = True,
    networks: Annotated[
        bool, typer.Option(help="Where its tools are reached.", show_default=False)
    ] = True,
    containers: Annotated[bool, typer.Option(hidden=True)] = True,  # for scripts: each pod has one
    output: Output = None,
) -> None:
    """Show a workload: its state, its pods, its events, and the command that submits it again."""
    invocation = current_invocation(context)
    row = lookup.find_workload(invocation, name, project)
    workload = invocation.client.get(f"/workloads/{row['id']}", expand=PARTS)
    if output is Format.NAME:
        print(workload["name"])
    elif not print_document(workload, output):
        _print_facts(workload, general=general, compute=compute, networks=networks)
        if pods:
            is_mpi = workload["distributedFramework"] == "MPI"
            _print_pods(workload["pods"], pod_limit, is_mpi=is_mpi)
        if events:
            # The server sends the newest first.
            some = workload["events"][:event_limit]
            _print_events(some[::-1] if sort_events is EventOrder.ASC else some)
        if general:
            _print_command_line(workload)


def _print_command_line(workload: Item) -> None:
    """Print the command line that submits the workload again. One with whole files in it is left
    out, with the command that writes them down."""
    line = workload["commandLine"].replace("\n", "\n  ")
    if len(line) > LONGEST_LINE:
        line = f"too long to show; instead: trainyard workload export {workload['name']}"
    print(f"\nCommand line:\n  {line}")


def export(
    context: typer.Context, name: Name, project: ProjectName = "", output: Output = Format.YAML
) -> None:
    """Print the request body of a workload, to submit it again with --file."""
    invocation = current_invocation(context)
    row = lookup.find_workload(invocation, name, project)
    workload = invocation.client.get(f"/workloads/{row['id']}", expand="spec")
    body = {key: workload[key] for key in ("name", "projectId", "clusterId", "spec")}
    if workload["masterSpec"] is not None:
        body["masterSpec"] = workload["masterSpec"]
    if workload["noMaster"] and workload["type"] == "Distributed":
        body["noMaster"] = True
    if not print_document(body, output):
        raise wrong_use("--output: an export is yaml or json.")


def _print_facts(workload: Item, *, general: bool, compute: bool, networks: bool) -> None:
    failure = workload["failure"]
    cause = workload["cause"]
    state = [
        ("Name", workload["name"]),
        ("Project", workload["projectName"]),
        ("Type", type_of(workload)),
        ("Status", workload["phase"]),
        ("Reason", " ".join(filter(None, (workload["phaseReason"], workload["phaseMessage"])))),
        ("Waits for", join_sentences(cause["title"], cause["nextStep"]) if cause else ""),
        ("Failed because", f"{failure['sentence']} {failure['repair']}" if failure else ""),
        (
            "Submitted",
            f"{format_age(workload['createdAt'])} ago by {workload['submittedBy'] or 'nobody'}",
        ),
        (
            "Started",
            f"{format_age(workload['startedAt'])} ago" if workload.get("startedAt") else "",
        ),
        ("Running for", format_duration(workload["totalRunningTimeSeconds"])),
        ("Last checkpoint", _checkpoint_in_words(workload["lastCheckpoint"])),
    ]
    requested = workload["workloadRequestedResources"]
    allocated = [
        ("GPUs allocated (requested)", gpus_of(workload)),
        ("CPU, memory", f"{requested['cpu']:g} cores, {format_memory(requested['cpuMemory'])}"),
    ]
    other = [
        ("Pods running (pending)", pods_of(workload)),
        ("Run, attempt", f"{workload['run']}, {workload['attempt']}"),
        ("ID", workload["id"]),
    ]
    addresses = [
        ("Ports", ", ".join(_describe_ports(workload["spec"]))),
        ("Service URLs", ", ".join(workload["urls"])),
    ]
    print_facts(
        [
            *(state if general else ()),
            *(allocated if compute else ()),
            *(addresses if networks else ()),
            *(other if general else ()),
        ]
    )


def _checkpoint_in_words(saved: Item | None) -> str:
    """Say of which step the last checkpoint is, and its age; empty without one."""
    if saved is None:
        return ""
    return f"step {saved['step']}, {format_age(saved['savedAt'])} ago"


def _describe_ports(spec: Item) -> Iterator[str]:
    """Yield the ports of its tools, with their addresses if they have one, and its other ports."""
    for tool in spec.get("exposedUrls") or ():
        yield f"{tool['container']} {tool.get('url') or ''}".rstrip()
    for port in spec.get("ports") or ():
        outside = f" {port['external']}" if port.get("external") else ""
        yield f"{port['container']} ({port['serviceType']}{outside})"


def _print_pods(pods: list[Item], limit: int, *, is_mpi: bool) -> None:
    rows = [
        (
            pod["name"],
            pod["k8sPhase"],
            "launcher" if is_mpi and pod["role"] == "master" else pod["role"],
            format_age(pod["startedAt"]),
            pod["nodeName"] or "–",
        )
        for pod in pods[:limit]
    ]
    if rows:
        print("\nPods:")
        print_columns([("POD", "STATUS", "TYPE", "AGE", "NODE"), *rows], indent="  ")
    if len(pods) > limit:
        print(f"  … {len(pods) - limit} more: --pod-limit {len(pods)}")


def _print_events(events: list[Item]) -> None:
    rows = [
        (
            format_age(event["createdAt"]),
            event["actor"] or event["source"] or "–",
            event["phase"] or event["type"],
            " ".join(filter(None, (event["reason"], event["message"]))),
        )
        for event in events
    ]
    if rows:
        print("\nEvents:")
        print_columns([("AGE", "SOURCE", "TYPE", "MESSAGE"), *rows], indent="  ")
