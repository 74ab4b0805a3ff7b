"""One class name has one meaning, and a name says what it holds, or what it tests."""

import ast
import re
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
#: Names that say how somebody came by a thing, not what it is.
RIDDLES = {"found", "heed", "known", "made", "mine", "seen", "told"}
#: How a name begins that says its subject only in its file: "it", "what is wrong", "the others".
OPENINGS = re.compile(r"test_(it|its|they|that|those|one|both|others|what|who|nobody)_")


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


def test_names_say_what_they_hold() -> None:
    riddles = [f"{path}:{line} {name}" for path, tree in source() for line, name in bound(tree)]
    assert not riddles, "call them by what they are"


def bound(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The riddles among the names that variables, parameters, functions and fields are given."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                pass
            case ast.arg(arg=name) | ast.alias(asname=str(name)):
                pass
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                pass
            case ast.ClassDef(name=name):
                pass
            case _:
                continue
        if name.lower() in RIDDLES:
            yield getattr(node, "lineno", 0), name


def test_every_kind_of_name_is_looked_at() -> None:
    text = "class Seen: pass\ndef told(found, *, known): made = a.mine = 1\nfrom a import b as heed"
    assert {name.lower() for _, name in bound(ast.parse(text))} == RIDDLES


def test_no_name_of_a_test_is_a_riddle_without_its_file() -> None:
    """A failure is read as a line of a log: its name alone says subject and behaviour."""
    riddles = [
        f"{path}: {node.name}"
        for path in tracked("tests/*.py")
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and OPENINGS.match(node.name)
    ]
    assert not riddles
