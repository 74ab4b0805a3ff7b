"""Tools as the wizard's page posts them."""

from tests.workloads.wizard.browser import item

TOOLS = "worker-connections"
USERS, GROUPS = "authorizedUsers", "authorizedGroups"


def tool(at: int = 0, **parts: str) -> dict[str, str]:
    """An item as the page posts it; the cells of tools have underscores in their names."""
    usual = {"tool_type": "custom", "connection_type": "NodePort", "container_port": "80"}
    cells = {f"{TOOLS}-{at}-{key}": value for key, value in (usual | parts).items()}
    return item(TOOLS, at) | cells


def people(*names: str, access: str = USERS) -> dict[str, str]:
    """A tool that is open to these alone."""
    each = {f"{TOOLS}-0-who-{number}": name for number, name in enumerate(names)}
    return tool(access=access) | each
