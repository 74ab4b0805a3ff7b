"""Convert tools between Run:ai's ``exposedUrls`` and ``ports``, and our ``connections``.

The field names are those of its API reference: a URL or port names the container's port and the
tool.
"""

from typing import Any

from spec.parts.environment import TOOLS, ConnectionType
from spec.problems.errors import Path

Document = dict[str, Any]

URLS = "exposedUrls"
PORTS = "ports"
PORT_TYPES = {ConnectionType.NODE_PORT, ConnectionType.LOAD_BALANCER, ConnectionType.CLUSTER_IP}
FIELD_NAMES = {"container": "containerPort", "toolName": "name"}
FIELD_NAMES_OF = {
    URLS: FIELD_NAMES | {"url": "externalUrl"},
    PORTS: FIELD_NAMES | {"external": "nodePort", "serviceType": "connectionType"},
}
#: Fields of a connection that one of the lists lacks, allowed while they have these values.
IMPLIED_VALUES: dict[str, dict[str, tuple[Any, ...]]] = {
    URLS: {"connectionType": (ConnectionType.EXTERNAL_URL,), "nodePort": (None,)},
    PORTS: {"externalUrl": (None,)},
}


def tools_to_connections(replica: Document) -> Document:
    """Move a replica's URLs and ports to its connections. Anything but a list is left for the spec
    to refuse."""
    lists = {key: replica[key] for key in FIELD_NAMES_OF if isinstance(replica.get(key), list)}
    if not lists or not isinstance(replica.get("connections", []), list):
        return replica
    rest = {key: value for key, value in replica.items() if key not in lists}
    tools = [_connection_of_item(key, item) for key, items in lists.items() for item in items]
    return rest | {"connections": [*rest.get("connections", ()), *tools]}


def _connection_of_item(key: str, item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    kind = ConnectionType.EXTERNAL_URL if key == URLS else ConnectionType.CLUSTER_IP
    tool = TOOLS.get(str(item.get("toolType")), "Port")
    name = f"{tool} {item.get('container', '')}".strip()
    fields = {FIELD_NAMES_OF[key].get(name, name): value for name, value in item.items()}
    return {"name": name, "connectionType": kind.value} | fields


def connections_to_tools(replica: Document) -> Document:
    """The inverse of :func:`connected`. Without connections both lists are empty."""
    if "connections" not in replica:
        return replica
    lists: dict[str, list[Document]] = {URLS: [], PORTS: []}
    for item in replica["connections"]:
        key = list_of_tool(item)
        fields = {
            k: v
            for k, v in item.items()
            if not (k in IMPLIED_VALUES[key] and v in IMPLIED_VALUES[key][k])
        }
        lists[key].append({_wire_names(key).get(k, k): v for k, v in fields.items()})
    return {key: value for key, value in replica.items() if key != "connections"} | lists


def position_in_tools(replica: Document, number: int) -> tuple[str, int]:
    """The list and index at which :func:`published` puts a connection."""
    keys = [list_of_tool(item) for item in replica["connections"]]
    return keys[number], keys[:number].count(keys[number])


def list_of_tool(connection: Document) -> str:
    """The list of Run:ai's that has a connection."""
    return PORTS if connection.get("connectionType") in PORT_TYPES else URLS


def _wire_names(key: str) -> dict[str, str]:
    return {field: name for name, field in FIELD_NAMES_OF[key].items()}


def path_in_request(replica: Document, path: Path) -> Path:
    """The path in the request of a problem in the converted replica."""
    if len(path) < 2 or path[0] != "connections" or not isinstance(path[1], int):
        return path
    lists = {key: replica[key] for key in FIELD_NAMES_OF if isinstance(replica.get(key), list)}
    number = path[1] - len(replica.get("connections") or ())
    for key, items in lists.items():
        count = len(items)
        if 0 <= number < count:
            return (key, number, *(_wire_names(key).get(str(step), step) for step in path[2:]))
        number -= count
    return path
