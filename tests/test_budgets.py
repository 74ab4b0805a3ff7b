"""Small files, small functions: a page of code is what a person can hold in mind."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.run.install import ROOT
from tests.repository import targets, tracked

LINES = {".html": 120, ".py": 300, ".js": 150}
#: One subject each: two files could only be read together.
ROOMY = {"engines/base.py": 350}
TEST_FILE_LINES = 250
FUNCTION_LINES = 40
TEMPLATE_COLUMNS = 160


def budget(path: Path) -> int:
    if path.parts[0] == "tests":
        return TEST_FILE_LINES
    return ROOMY.get(path.as_posix(), LINES[path.suffix])


def test_files_stay_small() -> None:
    sizes = {path: len(lines_of(path)) for path in tracked("*.py", "*.html", "*.js")}
    assert sizes
    assert not [f"{path} has {size} lines" for path, size in sizes.items() if size > budget(path)]


def test_templates_stay_narrow() -> None:
    """Width is size, too: a budget of lines alone is met sideways."""
    templates = tracked("*.html")
    assert templates
    assert not [
        f"{path}:{number} has {len(line)} columns"
        for path in templates
        for number, line in enumerate(lines_of(path), 1)
        if len(line) > TEMPLATE_COLUMNS
    ]


def test_functions_stay_small() -> None:
    modules = tracked("*.py")
    assert modules
    assert not [
        f"{path}: {node.name} has {length} lines"
        for path in modules
        for node, length in functions((ROOT / path).read_text())
        if length > FUNCTION_LINES
    ]


def lines_of(path: Path) -> list[str]:
    return (ROOT / path).read_text().splitlines()


def functions(source: str) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, (node.end_lineno or node.lineno) - node.lineno + 1


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_documented_commands_exist(page: str) -> None:
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", code_of((ROOT / page).read_text())))
    assert named
    assert named <= targets()


def code_of(markdown: str) -> str:
    """Only what is set as code: prose may make anything."""
    return "\n".join(re.findall(r"```.*?```|`[^`\n]+`", markdown, re.DOTALL))


def test_make_help_lists_every_target_for_people() -> None:
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"],  # noqa: S607 -- whichever make runs the tests
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    listed = set(re.findall(r"^  make ([a-z-]+)", shown, re.MULTILINE))
    assert listed == targets() - {"install", "install-dev", "python"}


@pytest.mark.parametrize("page", tracked("*.md"), ids=str)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = (ROOT / page).read_text()
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)
    assert not [link for link in links if not (ROOT / page.parent / link).exists()]


def test_no_style_hangs_on_what_is_anywhere_in_a_page() -> None:
    """With ``body:has()`` a browser looks at the whole page again at each change: one in a table of
    200 rows took 300 ms instead of 10. A script sets a class on the body instead."""
    slow = re.compile(r"(?:\b(?:html|body|main)|:root|\.workloads-table [^{,]*):has\(")
    sheets = tracked("static/css/*.css")
    assert not [str(path) for path in sheets if slow.search((ROOT / path).read_text())]
