"""One class name has one meaning."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from config.run.install import ROOT
from tests.repository import tracked

#: What frameworks look for under this name, in as many places as there are.
CONVENTIONAL = {"Meta", "Command", "Migration"}
#: Names with more than one class, and why.
SHARED = {
    "Environment": "the asset of a gallery, and the part of a spec that its document is",
}


def source() -> Iterator[tuple[Path, ast.Module]]:
    for path in tracked("*.py"):
        if path.parts[0] != "tests":
            yield path, ast.parse((ROOT / path).read_text())


def test_a_class_name_has_one_meaning() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, tree in source():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name not in CONVENTIONAL:
                places[node.name].append(f"{path}:{node.lineno}")
    shared = {name: where for name, where in places.items() if len(where) > 1}
    assert {name: shared[name] for name in shared.keys() - SHARED.keys()} == {}
    assert SHARED.keys() <= shared.keys(), "these have one meaning by now: take them off the list"
