"""Check node ports of tools, which are unique on a cluster."""

from collections.abc import Iterator

from django.db.models import Q, TextField
from django.db.models.functions import Cast

from clusters.models import Cluster
from spec.problems.errors import Problem, parse_path
from spec.tools import Tool, tools_of
from spec.workload import WorkloadSpec
from workloads.models import Workload

AGAIN = "enter another, or leave it empty for any free one"


def complaints(cluster: Cluster, spec: WorkloadSpec) -> Iterator[Problem]:
    """Ports that two tools ask for, or that another existing workload has."""
    wanted = [(tool, tool.connection.node_port) for tool in tools_of(spec)]
    asked = [(tool, port) for tool, port in wanted if port]
    taken = _taken(cluster, {port for _, port in asked}) if asked else set[int]()
    before = set[int]()
    for tool, port in asked:
        if port in taken:
            yield _problem(tool, f"{port} is taken by another workload of the cluster; {AGAIN}")
        elif port in before:
            yield _problem(tool, f"{port} is what another tool of this workload has; {AGAIN}")
        before.add(port)


def _problem(tool: Tool, message: str) -> Problem:
    return Problem((*parse_path(tool.field), "nodePort"), message)


def _taken(cluster: Cluster, ports: set[int]) -> set[int]:
    """The ports in use by workloads. Only specs that contain one of them are loaded."""
    names_one = Q()
    for port in ports:
        names_one |= Q(text__contains=f'"nodePort": {port}')
    there = Workload.objects.filter(cluster=cluster, deleted_at=None)
    texts = there.annotate(text=Cast("spec_json", TextField())).filter(names_one)
    taken = set[int]()
    for workload in texts.only("spec_json"):
        if not workload.spec_fault:
            taken |= {tool.connection.node_port or 0 for tool in tools_of(workload.spec)}
    return taken & ports
