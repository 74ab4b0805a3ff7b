"""Tools in a form: how each is reached, and who may open it."""

from core.forms.field import Cell, Input, Repack, Values
from core.forms.items import ShownItem
from spec.parts.environment import EXTERNAL_TOOLS, TOOLS, Access, ConnectionType

ACCESS = (
    ("", "Anyone with workload access"),
    *((kind.value, kind.label) for kind in Access),
)
CONNECTIONS = tuple((kind.value, kind.label) for kind in ConnectionType)
#: A row without a tool counts as absent.
CELLS = (
    Cell(
        "tool_type",
        "Tool",
        Input.SELECT,
        options=(("", "Select a tool"), *TOOLS.items()),
        also=("toolType",),
        redraws=True,
    ),
    Cell("name", "Name", fills=False),
    Cell(
        "connection_type",
        "Connection type",
        Input.SELECT,
        options=CONNECTIONS,
        also=("connectionType",),
        fills=False,
    ),
    Cell("container_port", "Container port", Input.WHOLE, also=("containerPort",), fills=False),
    Cell("node_port", "Custom port", Input.WHOLE, also=("nodePort",), fills=False),
    Cell("external_url", "Custom URL", also=("externalUrl",), fills=False),
    Cell(
        "access",
        "Who may access",
        Input.SELECT,
        options=ACCESS,
        also=("authorizationType",),
        fills=False,
    ),
    Cell(
        "who",
        "Users or groups",
        Input.NAMES,
        also=("authorizedUsers", "authorizedGroups"),
        fills=False,
        adds=((Access.USERS.value, "User"), (Access.GROUPS.value, "Group")),
    ),
)
WIRE = {
    "name": "name",
    "connection_type": "connectionType",
    "container_port": "containerPort",
    "node_port": "nodePort",
    "external_url": "externalUrl",
    "access": "authorizationType",
}
#: Cells that an external tool does not have.
SERVED_CELLS = ("connection_type", "container_port", "node_port", "access", "who")
#: The option that gives a tool its own URL.
EXTERNAL_URL_OPTION = f"connections.connection_type.{ConnectionType.EXTERNAL_URL}"
ADDRESS = "Where its pages are. ${NAME} stands for a variable: https://wandb.ai/team/${PROJECT}."
NAME_LISTS = (Access.USERS, Access.GROUPS)  # also the wire names of their lists


def blank_tool(why_no_urls: str) -> Values:
    """Return the initial values of a new tool, which are those of Run:ai's form: an external URL,
    open to all authenticated users."""
    if why_no_urls:
        return {"connectionType": ConnectionType.CLUSTER_IP.value}
    return {
        "connectionType": ConnectionType.EXTERNAL_URL.value,
        "authorizationType": Access.EVERYONE.value,
    }


def pack(cells: Values) -> Values:
    """Convert the cells of a form to a tool."""
    if cells.get("tool_type") in EXTERNAL_TOOLS:
        cells |= dict.fromkeys(SERVED_CELLS, "")
    tool = cells.pop("tool_type", "")
    names = cells.pop("who", [])
    item = {wire: cells.pop(cell, "") for cell, wire in WIRE.items()}
    item["name"] = item["name"] or TOOLS.get(tool, "")
    item |= {access.value: names for access in NAME_LISTS if item["authorizationType"] == access}
    kept = {wire: value for wire, value in item.items() if value not in ("", [])}
    return cells | kept | {"toolType": tool}


def unpack(item: Values) -> Values:
    """Convert a tool to the cells of a form."""
    wire = {"toolType", *WIRE.values(), *NAME_LISTS}
    rest = {key: value for key, value in item.items() if key not in wire}
    cells = {cell: item.get(wire) for cell, wire in WIRE.items()}
    cells["connection_type"] = cells["connection_type"] or ConnectionType.EXTERNAL_URL.value
    who = item.get(Access.USERS) or item.get(Access.GROUPS) or []
    names = who if isinstance(who, list) else [who]
    return rest | cells | {"tool_type": item.get("toolType", "custom"), "who": names}


def hide_served_cells(item: ShownItem) -> None:
    """Hide the cells that an external tool does not have."""
    if item.by_slug["tool_type"].value in EXTERNAL_TOOLS:
        for slug in SERVED_CELLS:
            item.by_slug[slug].hidden = True
        item.by_slug["external_url"].note = ADDRESS


def tool_text(item: Values) -> str:
    """Return a tool in words: ``External URL, port 8888, All authenticated users``."""
    cells = unpack(item)
    if item.get("toolType") in EXTERNAL_TOOLS:
        return f"{EXTERNAL_TOOLS[item['toolType']]}, {cells['external_url']}"
    port = f"port {cells['container_port']}"
    connection_text = dict(CONNECTIONS).get(cells["connection_type"], "")
    access_text = dict(ACCESS).get(cells["access"] or "", "")
    return ", ".join(
        part for part in (connection_text, port, access_text, *map(str, cells["who"])) if part
    )


REPACK = Repack(unpack, pack)
