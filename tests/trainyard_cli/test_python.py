"""Laptops have older Pythons than servers: the command line is written for 3.10."""

import ast
from pathlib import Path

import pytest

from config.run.install import ROOT

OLDEST = (3, 10)
#: What came to the standard library after that, as far as people reach for it.
LATER = {
    "datetime": {"UTC"},
    "enum": {"StrEnum", "verify", "ReprEnum"},
    "typing": {
        "Self",
        "Never",
        "assert_never",
        "override",
        "LiteralString",
        "Unpack",
        "reveal_type",
    },
    "asyncio": {"TaskGroup", "timeout", "Runner"},
    "itertools": {"batched"},
    "contextlib": {"chdir"},
}
MODULES = sorted((ROOT / "trainyard_cli").rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_use_nothing_that_the_oldest_python_lacks(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=OLDEST)
    later = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            later += sorted(names & LATER.get(node.module or "", set()))
            later += ["tomllib"] if node.module == "tomllib" else []
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            later += [node.attr] if node.attr in LATER.get(node.value.id, set()) else []
    assert not later
