"""The tools of a workload: ports that its first master or worker serves, and links to external
pages."""

import re
from dataclasses import dataclass

from spec.parts.environment import TOOLS, ConnectionType, ToolConnection
from spec.values.variable import address_variables, fill_address, looks_secret
from spec.workload import Pod, RelatedUrl, Replica, WorkloadSpec

#: Connections without a sign-in: anyone who reaches the port can use the tool.
UNGUARDED = frozenset({ConnectionType.NODE_PORT, ConnectionType.LOAD_BALANCER})
LONGEST_SLUG = 30  # with an id of 32 digits and a hyphen it makes a DNS label


@dataclass(frozen=True)
class Tool:
    """A tool on a port. ``slug`` is its name in URLs, ``number`` on the cluster. ``pod`` serves it,
    and ``field`` is its path in the spec."""

    number: int
    slug: str
    connection: ToolConnection
    pod: Pod
    field: str

    @property
    def port(self) -> int:
        return self.connection.container_port or 0  # served tools have a port


@dataclass(frozen=True)
class Link:
    """An external page. ``unknown`` are variables in its URL whose values are not known here."""

    name: str
    kind: str
    url: str
    unknown: tuple[str, ...] = ()


def external_links(spec: WorkloadSpec) -> tuple[Link, ...]:
    """External tools and related URLs, without duplicates."""
    replicas = [role.replica for role in spec.described_roles]
    tools = (_tool_link(replica, it) for replica in replicas for it in replica.connections)
    related = map(_related_link, spec.related_urls)
    return tuple(dict.fromkeys([*filter(None, tools), *related]))


def _related_link(page: RelatedUrl) -> Link:
    kind = TOOLS.get(page.type, page.type)  # known types have a name
    return Link(page.name or kind, kind, page.url)


def _tool_link(replica: Replica, tool: ToolConnection) -> Link | None:
    if not tool.is_external:
        return None
    variables = replica.environment_variables
    values = {it.name: it.value for it in variables if it.value and not looks_secret(it.name)}
    url = fill_address(tool.external_url or "", values)
    return Link(tool.name, TOOLS[tool.tool_type], url, tuple(sorted(address_variables(url))))


def served_tools(spec: WorkloadSpec) -> tuple[Tool, ...]:
    """The tools on ports. One rank of each role serves them, even if all workers would."""
    tools: list[Tool] = []
    if not any(role.replica.connections for role in spec.described_roles):
        return ()  # as most have none, and a submission asks several times
    for part, pod in _serving_pods(spec):
        for number, connection in enumerate(pod.replica.connections):
            if connection.is_external:
                continue
            slug = _slug(connection.name, {tool.slug for tool in tools})
            tools.append(Tool(len(tools), slug, connection, pod, f"{part}.connections[{number}]"))
    return tuple(tools)


def _serving_pods(spec: WorkloadSpec) -> list[tuple[str, Pod]]:
    """The spec's part and the pod that serve tools: the first of each role that the spec describes.
    A master that inherits the workers' setup serves in their place."""
    serving: dict[str, Pod] = {}
    for pod in spec.pods:
        serving.setdefault(pod.described_by, pod)
    paths = {role.described_by: role.path for role in spec.gang_roles}
    return [(paths[name], pod) for name, pod in serving.items()]


def _slug(name: str, taken: set[str]) -> str:
    head = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[: LONGEST_SLUG - 3].rstrip("-")
    base = head or "tool"
    candidates = (base if number == 1 else f"{base}-{number}" for number in range(1, 100))
    return next(slug for slug in candidates if slug not in taken)
