"""The tables of roles in docs/access.md have the permissions of the stored roles."""

import pytest

from accounts.models import AccessRole
from accounts.permissions import RESOURCES
from config.run.install import ROOT

WORDS = {"view": "read", "create": "create", "edit": "update", "delete": "delete"}


def documented_roles() -> dict[str, set[str]]:
    """Return the permissions of each role of the tables."""
    roles: dict[str, set[str]] = {}
    names: list[str] = []
    for line in (ROOT / "docs/access.md").read_text().splitlines():
        if line.startswith("| resource |"):
            names = _cells(line)[1:]
            roles |= {name: set() for name in names}
        elif line.startswith("| `"):
            resource, *cells = _cells(line)
            for name, cell in zip(names, cells, strict=True):
                roles[name] |= _permissions(resource.strip("`"), cell)
    return roles


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")[1:-1]]


def _permissions(resource: str, cell: str) -> set[str]:
    if cell == "–":
        return set()
    words = cell.split(", ")
    actions = RESOURCES[resource] if words == ["all"] else [WORDS[word] for word in words]
    return {f"{resource}.{action}" for action in actions}


def test_the_page_on_access_has_the_permissions_of_each_role(db: None) -> None:
    stored = {
        role.name: set(role.permissions) for role in AccessRole.objects.filter(predefined=True)
    }
    assert documented_roles() == stored


@pytest.mark.parametrize(
    ("cell", "actions"), [("–", 0), ("view", 1), ("view, edit", 2), ("all", 4)]
)
def test_a_cell_of_the_table_stands_for_actions(cell: str, actions: int) -> None:
    assert len(_permissions("projects", cell)) == actions
