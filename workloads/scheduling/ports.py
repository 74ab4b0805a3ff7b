"""Check node ports of tools, which are unique on a cluster."""

from collections.abc import Iterator

from django.db.models import Q, TextField
from django.db.models.functions import Cast

from clusters.models import Cluster
from spec.problems.errors import Problem, parse_path
from spec.tools import Tool, served_tools
from spec.workload import WorkloadSpec
from workloads.models import Workload

ENTER_ANOTHER = "enter another, or leave it empty for any free one"


def complaints(cluster: Cluster, spec: WorkloadSpec) -> Iterator[Problem]:
    """Ports that two tools ask for, or that another existing workload has."""
    wanted = [(tool, tool.connection.node_port) for tool in served_tools(spec)]
    requested = [(tool, port) for tool, port in wanted if port]
    ports_in_use = (
        _ports_in_use(cluster, {port for _, port in requested}) if requested else set[int]()
    )
    earlier = set[int]()
    for tool, port in requested:
        if port in ports_in_use:
            yield _problem(
                tool, f"{port} is taken by another workload of the cluster; {ENTER_ANOTHER}"
            )
        elif port in earlier:
            yield _problem(
                tool, f"{port} is what another tool of this workload has; {ENTER_ANOTHER}"
            )
        earlier.add(port)


def _problem(tool: Tool, message: str) -> Problem:
    return Problem((*parse_path(tool.field), "nodePort"), message)


def _ports_in_use(cluster: Cluster, ports: set[int]) -> set[int]:
    """The ports in use by workloads. Only specs that contain one of them are loaded."""
    names_a_port = Q()
    for port in ports:
        names_a_port |= Q(text__contains=f'"nodePort": {port}')
    workloads = Workload.objects.filter(cluster=cluster, deleted_at=None)
    texts = workloads.annotate(text=Cast("spec_json", TextField())).filter(names_a_port)
    ports_in_use = set[int]()
    for workload in texts.only("spec_json"):
        if not workload.spec_fault:
            ports_in_use |= {tool.connection.node_port or 0 for tool in served_tools(workload.spec)}
    return ports_in_use & ports
