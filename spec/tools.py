"""The tools of a workload: what its first master, or its first worker, serves on ports."""

import re
from dataclasses import dataclass

from spec.parts.environment import ToolConnection
from spec.workload import Pod, WorkloadSpec

LONGEST_SLUG = 30  # with an id of 32 digits and a hyphen it is a DNS label


@dataclass(frozen=True)
class Tool:
    """``slug`` names it in addresses, ``number`` on the cluster; ``pod`` serves it; ``field`` is
    where the spec has it."""

    number: int
    slug: str
    connection: ToolConnection
    pod: Pod
    field: str


def tools_of(spec: WorkloadSpec) -> tuple[Tool, ...]:
    """A rank of each kind of replica serves its tools: what all workers would serve, one does."""
    tools: list[Tool] = []
    for part, pod in _servers(spec):
        for number, connection in enumerate(pod.replica.connections):
            slug = _slug(connection.name, {tool.slug for tool in tools})
            tools.append(Tool(len(tools), slug, connection, pod, f"{part}.connections[{number}]"))
    return tuple(tools)


def _servers(spec: WorkloadSpec) -> list[tuple[str, Pod]]:
    """A master that inherits the workers' setup serves in their place."""
    pods = spec.pods
    if not spec.has_master:
        return [("worker", pods[0])]
    return [("master", pods[0]), ("worker", pods[1])] if spec.master else [("worker", pods[0])]


def _slug(name: str, taken: set[str]) -> str:
    head = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[: LONGEST_SLUG - 3].rstrip("-")
    base = head or "tool"
    candidates = (base if number == 1 else f"{base}-{number}" for number in range(1, 100))
    return next(slug for slug in candidates if slug not in taken)
