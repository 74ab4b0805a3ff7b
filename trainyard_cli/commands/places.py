"""Commands about where workloads run: projects, clusters, nodes and node pools."""

from collections.abc import Sequence
from typing import Annotated

import typer

from trainyard_cli.errors import CliError, ExitCode, wrong_use
from trainyard_cli.invocation import (
    SET_PROJECT,
    NoHeaders,
    Output,
    ProjectName,
    current_invocation,
)
from trainyard_cli.notes import print_note
from trainyard_cli.show import (
    Format,
    Item,
    TextColumn,
    format_memory,
    format_number,
    print_document,
    print_facts,
    print_list,
)

GPU = "nvidia.com/gpu"
PROJECT_ARGUMENT = Annotated[str, typer.Argument(help="The name of a project.")]
PROJECTS = (
    TextColumn("PROJECT", lambda it: it["name"]),
    TextColumn("DEPARTMENT", lambda it: it["departmentName"]),
    TextColumn("GPU QUOTA", lambda it: _format_quota(it["gpu"]["deserved"])),
    TextColumn("ALLOCATED GPUS", lambda it: format_number(it["gpu"]["allocated"])),
    TextColumn("ALLOCATED CPU", lambda it: format_number(it["cpu"]["allocated"]), wide=True),
    TextColumn("ALLOCATED MEMORY", lambda it: format_memory(it["memory"]["allocated"]), wide=True),
    TextColumn("OVER QUOTA", lambda it: "yes" if it["overQuota"] else "no", wide=True),
    TextColumn("DEFAULT QUEUE", lambda it: it.get("defaultQueue") or "–", wide=True),
    TextColumn("ID", lambda it: it["id"], wide=True),
    TextColumn("CLUSTER ID", lambda it: it["clusterId"], wide=True),
)
CLUSTERS = (
    TextColumn("CLUSTER", lambda it: it["name"]),
    TextColumn("KIND", lambda it: it.get("kind", "–")),
    TextColumn("STATUS", lambda it: _state(it)),
    TextColumn("ID", lambda it: it["uuid"]),
)
NODES = (
    TextColumn("NODE", lambda it: it["name"]),
    TextColumn("STATUS", lambda it: it["status"]),
    TextColumn("NODE POOL", lambda it: it["nodePool"]),
    TextColumn("GPU TYPE", lambda it: it["gpuInfo"]["gpuType"] or "–"),
    TextColumn("GPUS", lambda it: format_number(it["allocatable"]["gpu"])),
    TextColumn("ALLOCATED GPUS", lambda it: format_number(it["allocated"]["gpu"])),
    TextColumn("CPU", lambda it: format_number(it["allocatable"]["cpu"])),
    TextColumn("MEMORY", lambda it: format_memory(it["allocatable"]["memory"])),
    TextColumn("ALLOCATED CPU", lambda it: format_number(it["allocated"]["cpu"]), wide=True),
    TextColumn("ALLOCATED MEMORY", lambda it: format_memory(it["allocated"]["memory"]), wide=True),
    TextColumn("CLUSTER ID", lambda it: it["clusterUuid"], wide=True),
)
POOLS = (
    TextColumn("NODE POOL", lambda it: it["name"]),
    TextColumn("STATUS", lambda it: it["phase"]),
    TextColumn("NODES", lambda it: str(it["nodes"])),
    TextColumn("GPUS", lambda it: format_number(it["allocatable"]["gpu"])),
    TextColumn("ALLOCATED GPUS", lambda it: format_number(it["allocated"]["gpu"])),
    TextColumn("LABEL", lambda it: _label(it), wide=True),
    TextColumn("CLUSTER ID", lambda it: it["clusterId"], wide=True),
)
QUEUES = (
    TextColumn("QUEUE", lambda it: it["name"]),
    TextColumn("CLUSTER QUEUE", lambda it: it["clusterQueue"]),
    TextColumn("GPU QUOTA", lambda it: _gpu_quota(it)),
    TextColumn("DEFAULT", lambda it: "yes" if it["isDefault"] else "no"),
    TextColumn("ACTIVE", lambda it: "yes" if it["active"] else "no"),
    TextColumn("MESSAGE", lambda it: it["message"] or "–", wide=True),
)


def add(app: typer.Typer, _: Sequence[str]) -> None:
    """Add the groups of commands."""
    config = typer.Typer(help="What commands assume.", no_args_is_help=True)
    config.command("project")(set_project)
    config.command("cluster", hidden=True)(_set_cluster)
    app.add_typer(config, name="config")
    project = typer.Typer(help="Projects, and the one that commands use.", no_args_is_help=True)
    project.command("set")(set_project)
    project.command("list")(list_projects)
    app.add_typer(project, name="project")
    for name, what, command in (
        ("cluster", "Clusters.", list_clusters),
        ("node", "Nodes.", list_nodes),
        ("nodepool", "Node pools.", list_pools),
        ("queue", "Queues of Kueue.", list_queues),
    ):
        group = typer.Typer(help=what, no_args_is_help=True)
        group.callback()(lambda: None)  # without it, typer drops the name of a single command
        group.command("list")(command)
        if name == "cluster":
            group.command("set", hidden=True)(_set_cluster)
        if name == "node":
            group.command("describe")(describe_node)
        app.add_typer(group, name=name)


def _set_cluster(name: str) -> None:
    """Refuse a command that only Run:ai has."""
    raise wrong_use(f"No cluster is set, such as {name}: each project has its own.", SET_PROJECT)


def set_project(context: typer.Context, name: PROJECT_ARGUMENT) -> None:
    """Set the project that commands use."""
    invocation = current_invocation(context)
    project = invocation.find_project(name)
    stored = invocation.client.profile
    stored.project = project
    stored.save()
    print_note(f"Project {project['name']} is set.")


def list_projects(
    context: typer.Context, output: Output = None, no_headers: NoHeaders = False
) -> None:
    """Projects that you have access to, with their quota."""
    projects = list(current_invocation(context).client.pages("/org-unit/projects", "projects"))
    print_list(projects, PROJECTS, output, headers=not no_headers, empty="No projects yet.")


def list_clusters(
    context: typer.Context, output: Output = None, no_headers: NoHeaders = False
) -> None:
    """Clusters of your projects."""
    clusters = current_invocation(context).client.get("/clusters")
    print_list(clusters, CLUSTERS, output, headers=not no_headers, empty="No clusters yet.")


def list_nodes(
    context: typer.Context, output: Output = None, no_headers: NoHeaders = False
) -> None:
    """Nodes, what they have, and what workloads hold of it."""
    nodes = list(current_invocation(context).client.pages("/nodes", "nodes"))
    print_list(nodes, NODES, output, headers=not no_headers, empty="No nodes yet.")


def describe_node(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The name of a node; without one, all.")] = "",
    output: Output = None,
) -> None:
    """Show a node: what it has, and what workloads hold of it."""
    filters = f"name=={name}" if name else None
    nodes = list(current_invocation(context).client.pages("/nodes", "nodes", filterBy=filters))
    if name and not nodes:
        message = f"There is no node {name} in the clusters of your projects."
        raise CliError(message, "List them: trainyard node list", code=ExitCode.NOT_FOUND)
    if output is Format.NAME:
        for node_name in dict.fromkeys(node["name"] for node in nodes):
            print(node_name)
    elif not print_document(nodes, output):
        for node in nodes:  # several clusters may have a node with this name
            print_facts(_node_facts(node))


def _node_facts(node: Item) -> list[tuple[str, str]]:
    allocatable = node["allocatable"]
    allocated = node["allocated"]
    gpu_type = node["gpuInfo"]["gpuType"]
    gpus = f"{format_number(allocated['gpu'])} of {format_number(allocatable['gpu'])} {gpu_type}"
    return [
        ("Node", node["name"]),
        ("Status", node["status"]),
        ("Node pool", node["nodePool"]),
        ("GPUs allocated", gpus.rstrip()),
        (
            "CPU allocated",
            f"{format_number(allocated['cpu'])} of {format_number(allocatable['cpu'])} cores",
        ),
        (
            "Memory allocated",
            f"{format_memory(allocated['memory'])} of {format_memory(allocatable['memory'])}",
        ),
        ("Labels", ", ".join(f"{name}={value}" for name, value in node["labels"].items())),
        ("Taints", ", ".join(f"{it['key']}:{it.get('effect', '')}" for it in node["taints"])),
        ("Cluster ID", node["clusterUuid"]),
        ("ID", node["id"]),
    ]


def list_pools(
    context: typer.Context, output: Output = None, no_headers: NoHeaders = False
) -> None:
    """Node pools, as --node-pools takes them."""
    pools = current_invocation(context).client.get("/node-pools")["nodepools"]
    print_list(pools, POOLS, output, headers=not no_headers, empty="No node pools yet.")


def list_queues(
    context: typer.Context,
    project: ProjectName = "",
    output: Output = None,
    no_headers: NoHeaders = False,
) -> None:
    """Queues of Kueue in a project, as --queue takes them."""
    invocation = current_invocation(context)
    target = invocation.project(project)
    queues = invocation.client.get(f"/org-unit/projects/{target['id']}/queues")["queues"]
    empty = f"No queues of Kueue in project {target['name']}."
    print_list(queues, QUEUES, output, headers=not no_headers, empty=empty)


def _gpu_quota(queue: Item) -> str:
    quotas = {quota["resource"]: quota for quota in queue["quotas"] or ()}
    return format_number(quotas[GPU]["nominal"]) if GPU in quotas else "–"


def _format_quota(deserved: float | None) -> str:
    return "unlimited" if deserved is None else format_number(deserved)


def _state(cluster: Item) -> str:
    return str(cluster["status"]["state"])


def _label(pool: Item) -> str:
    key = pool["labelKey"]
    value = pool["labelValue"]
    if key == value == "*":
        return "*"
    return f"{key}={value}" if key else "–"
