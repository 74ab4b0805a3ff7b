"""Posts of tools, as the wizard's page sends them."""

from tests.workloads.wizard.browser import item

TOOLS = "worker-connections"
USERS = "authorizedUsers"
GROUPS = "authorizedGroups"


def tool(at: int = 0, **parts: str) -> dict[str, str]:
    """Return a tool as the page posts it. Its fields have underscores in their names."""
    usual = {"tool_type": "custom", "connection_type": "NodePort", "container_port": "80"}
    cells = {f"{TOOLS}-{at}-{key}": value for key, value in (usual | parts).items()}
    return item(TOOLS, at) | cells


def people(*names: str, access: str = USERS) -> dict[str, str]:
    """Return a tool that is only open to these people or groups."""
    each = {f"{TOOLS}-0-who-{number}": name for number, name in enumerate(names)}
    return tool(access=access) | each
