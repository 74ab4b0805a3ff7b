"""Sets of phases have one home, so that each has one name and each name one meaning."""

import ast
from pathlib import Path

from config.run.install import ROOT
from spec import phases
from tests.repository import tracked

HOME = Path("spec/phases.py")
ELSEWHERE = [
    path
    for path in tracked("*.py")
    if path != HOME and path.parts[0] not in {"tests", "bench", "trainer"}
]
SETS = {
    name: members
    for name, members in vars(phases).items()
    if isinstance(members, frozenset) and name.isupper() and not name.startswith("_")
}


def is_phase(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in {"Phase", "RankPhase"}
        and node.attr.isupper()
    )


def test_no_set_of_phases_stands_outside_their_module() -> None:
    assert ELSEWHERE
    found = {str(path): sets_in((ROOT / path).read_text()) for path in ELSEWHERE}
    assert not {path: sets for path, sets in found.items() if sets}


def sets_in(source: str) -> list[str]:
    """Name what looks like a set of phases, and second names of one."""
    tree = ast.parse(source)
    sets = [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Set | ast.List | ast.Tuple)
        and node.elts
        and all(map(is_phase, node.elts))
    ]
    again = [
        f"line {node.lineno}: {name.id}"
        for node in tree.body
        if isinstance(node, ast.Assign)
        for name in node.targets
        if isinstance(name, ast.Name) and name.id in SETS
    ]
    return sets + again


def test_no_set_of_phases_has_two_names() -> None:
    assert {"ACTIVE", "HOLDING_RESOURCES", "WAITING", "ENDED", "TERMINAL", "GATHERING"} <= set(SETS)
    assert len(set(SETS.values())) == len(SETS)
