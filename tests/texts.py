"""Finds every text that people read, in templates, Python, scripts and documents, with file and
line."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from config.run.install import ROOT
from tests.repository import tracked

#: Packages without texts for users, and the list of words, which quotes what to avoid.
SILENT = {"tests", "bench"}
WORDS = Path("docs/words.md")
#: What is no text: comments and expressions of templates, code in pages, comments in scripts.
COMMENT = re.compile(
    r"{#.*?#}|{% comment %}.*?{% endcomment %}|<!--.*?-->|<style>.*?</style>", re.S
)
EXPRESSION = re.compile(r"{{.*?}}|(?<={%) *\w+|\b[\w.]+(?=[=|])|{%[^\"%]*%}|class=\"[^\"]*\"", re.S)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.S | re.M)
REMARK = re.compile(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", re.S)
CALCULATED = re.compile(r"\$\{[^}]*\}")
LITERAL = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|`[^`]*`")


class Text(NamedTuple):
    """A text, and the line where it begins. Its line breaks are those of the file, if it
    has any."""

    path: Path
    line: int
    words: str


@cache
def texts() -> list[Text]:
    """Return all texts, file by file."""
    return [*read_all()]


def read_all() -> Iterator[Text]:
    for path in tracked("*.html", "*.txt"):
        if path.parts[0] == "templates":
            yield Text(path, 1, blank(EXPRESSION, blank(COMMENT, read(path))))
    for path in tracked("*.md"):
        if path != WORDS and "adr" not in path.parts:
            yield Text(path, 1, blank(CODE, read(path)))
    for path in tracked("static/js/*.js"):
        script = blank(REMARK, read(path))
        for literal in LITERAL.finditer(script):
            line = script.count("\n", 0, literal.start()) + 1
            yield Text(path, line, blank(CALCULATED, literal[0]))
    for path in tracked("*.py"):
        if path.parts[0] not in SILENT:
            yield from strings(path, ast.parse(read(path)))


def strings(path: Path, tree: ast.Module) -> Iterator[Text]:
    """Yield the strings of a module, one for each f-string. Docstrings only count where OpenAPI or
    help shows them."""
    documented = {"api", "trainyard_cli"} & {*path.parts, path.stem}
    inner: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and not documented:
            inner.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            inner.update(node.values)
            parts = [part.value if isinstance(part, ast.Constant) else "…" for part in node.values]
            yield Text(path, node.lineno, "".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inner:
            yield Text(path, node.lineno, node.value)


def blank(pattern: re.Pattern[str], text: str) -> str:
    """Return the text, with only the line breaks left of what matches the pattern."""
    return pattern.sub(lambda match: "\n" * match[0].count("\n"), text)


def read(path: Path) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")
