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
WAYS = {ConnectionType.NODE_PORT, ConnectionType.LOAD_BALANCER, ConnectionType.CLUSTER_IP}
OURS = {"container": "containerPort", "toolName": "name"}
OURS_OF = {
    URLS: OURS | {"url": "externalUrl"},
    PORTS: OURS | {"external": "nodePort", "serviceType": "connectionType"},
}
#: Fields of a connection that one of the lists lacks, allowed while they have these values.
ABSENT: dict[str, dict[str, tuple[Any, ...]]] = {
    URLS: {"connectionType": (ConnectionType.EXTERNAL_URL,), "nodePort": (None,)},
    PORTS: {"externalUrl": (None,)},
}


def connected(replica: Document) -> Document:
    """Move a replica's URLs and ports to its connections. Anything but a list is left for the spec
    to refuse."""
    lists = {key: replica[key] for key in OURS_OF if isinstance(replica.get(key), list)}
    if not lists or not isinstance(replica.get("connections", []), list):
        return replica
    rest = {key: value for key, value in replica.items() if key not in lists}
    tools = [_connection(key, item) for key, items in lists.items() for item in items]
    return rest | {"connections": [*rest.get("connections", ()), *tools]}


def _connection(key: str, item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    kind = ConnectionType.EXTERNAL_URL if key == URLS else ConnectionType.CLUSTER_IP
    tool = TOOLS.get(str(item.get("toolType")), "Port")
    name = f"{tool} {item.get('container', '')}".strip()
    ours = {OURS_OF[key].get(name, name): value for name, value in item.items()}
    return {"name": name, "connectionType": kind.value} | ours


def published(replica: Document) -> Document:
    """The inverse of :func:`connected`. Without connections both lists are empty."""
    if "connections" not in replica:
        return replica
    lists: dict[str, list[Document]] = {URLS: [], PORTS: []}
    for item in replica["connections"]:
        key = _list_of(item)
        fields = {k: v for k, v in item.items() if not (k in ABSENT[key] and v in ABSENT[key][k])}
        lists[key].append({_theirs(key).get(k, k): v for k, v in fields.items()})
    return {key: value for key, value in replica.items() if key != "connections"} | lists


def published_at(replica: Document, number: int) -> tuple[str, int]:
    """The list and index at which :func:`published` puts a connection."""
    keys = [_list_of(item) for item in replica["connections"]]
    return keys[number], keys[:number].count(keys[number])


def _list_of(connection: Document) -> str:
    return PORTS if connection.get("connectionType") in WAYS else URLS


def _theirs(key: str) -> dict[str, str]:
    return {ours: name for name, ours in OURS_OF[key].items()}


def given_as(replica: Document, path: Path) -> Path:
    """The path in the request of a problem in the converted replica."""
    if len(path) < 2 or path[0] != "connections" or not isinstance(path[1], int):
        return path
    lists = {key: replica[key] for key in OURS_OF if isinstance(replica.get(key), list)}
    number = path[1] - len(replica.get("connections") or ())
    for key, items in lists.items():
        count = len(items)
        if 0 <= number < count:
            return (key, number, *(_theirs(key).get(str(step), step) for step in path[2:]))
        number -= count
    return path
