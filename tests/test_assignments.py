"""One statement says one thing: ``phase, total = workload.phase, 0`` is two lines."""

import ast
from collections.abc import Iterator

import pytest

from config.run.install import ROOT
from tests.repository import tracked

PACKAGES = {path.parts[0] for path in tracked("*/*.py")}


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_a_line_assigns_one_value(package: str) -> None:
    crowded = [
        f"{path}:{line}"
        for path in tracked(f"{package}/*.py")
        for line in crowded_lines((ROOT / path).read_text())
    ]
    assert not crowded, "assign each value on a line of its own"


def crowded_lines(source: str) -> Iterator[int]:
    """Yield the lines that assign several values to several targets, where one line for each, in
    the same order, would do the same."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                if len(targets) == len(values) and not needs_one_statement(targets, values):
                    yield node.lineno


def needs_one_statement(targets: list[ast.expr], values: list[ast.expr]) -> bool:
    """Whether a value reads a target before its own, as in a swap."""
    if any(isinstance(element, ast.Starred) for element in (*targets, *values)):
        return True
    assigned: set[str] = set()
    for target, value in zip(targets, values, strict=True):
        if any(ast.unparse(part) in assigned for part in ast.walk(value)):
            return True
        assigned.add(ast.unparse(target))
    return False


@pytest.mark.parametrize(
    ("line", "is_crowded"),
    [
        ("count, name = 1, title(row)", True),
        ("self.cpu, self.memory = cpu, memory", True),
        ("previous, current = current, read()", True),
        ("first, second = second, first", False),
        ("low, high = high, low + high", False),
        ("self.left, self.right = self.right, self.left", False),
        ("first, *others = names", False),
        ("host, port = address", False),
        ("codes = 1, 2", False),
    ],
)
def test_only_values_that_could_stand_alone_are_found(line: str, is_crowded: bool) -> None:
    assert bool(list(crowded_lines(line))) == is_crowded
