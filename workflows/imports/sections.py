"""Divides the text of a workflow file by its top-level keys.

The file may be a template, and then is no valid YAML yet, so it is divided by lines, as OSMO does.
"""

import re
from dataclasses import dataclass

from spec.formats.lines import LONGEST, LineProblem, YamlError

WORKFLOW = "workflow"
DEFAULTS = "default-values"
VERSION = "version"
KEYS = (WORKFLOW, DEFAULTS, VERSION)
SECTION = re.compile(r"^([A-Za-z][A-Za-z0-9_-]*):", re.MULTILINE)
BYTE_ORDER_MARK = "\ufeff"
#: Characters of a private area of Unicode, by which templates mark tokens and lines.
MARKS = re.compile("[\ue000-\ue003]")
TOO_LONG = (
    f"The file is longer than {LONGEST} characters; keep programs in files of their own and name "
    "them by localpath"
)


@dataclass(frozen=True)
class Sections:
    """The sections of a file. Each text has the lines of the other sections empty, so that line
    numbers stay those of the file. ``dropped`` is the first line that is part of no section; 0
    if there is none."""

    workflow: str
    defaults: str
    dropped: int = 0


def split_sections(text: str) -> Sections:
    """Divide a file. Raises ``YamlError`` for unknown and repeated keys, and without a workflow."""
    text = text.removeprefix(BYTE_ORDER_MARK).replace("\r\n", "\n")
    if len(text) > LONGEST:
        raise YamlError([LineProblem(0, TOO_LONG)])
    mark = MARKS.search(text)
    if mark:
        line = _line_at(text, mark.start())
        raise YamlError([LineProblem(line, f"The character {mark[0]!r} cannot be used here")])
    starts = list(SECTION.finditer(text))
    problems = _key_problems(text, starts)
    if problems:
        raise YamlError(problems)
    ends = [match.start() for match in starts[1:]] + [len(text)]
    parts = {
        match[1]: _only(text, match.start(), end) for match, end in zip(starts, ends, strict=True)
    }
    before = text[: starts[0].start()]
    dropped = next(
        (number for number, line in enumerate(before.split("\n"), 1) if _has_content(line)), 0
    )
    return Sections(parts[WORKFLOW], parts.get(DEFAULTS, ""), dropped)


def _key_problems(text: str, starts: list[re.Match[str]]) -> list[LineProblem]:
    first_lines: dict[str, int] = {}
    problems = []
    for match in starts:
        key = match[1]
        line = _line_at(text, match.start())
        if key not in KEYS:
            message = (
                f"{key} is not a top-level key; the keys are {', '.join(KEYS)}. Indent the line "
                "if it belongs to the key above it"
            )
            problems.append(LineProblem(line, message))
        elif key in first_lines:
            message = f"{key} is given twice, first in line {first_lines[key]}"
            problems.append(LineProblem(line, message))
        first_lines.setdefault(key, line)
    if WORKFLOW not in first_lines:
        message = "There is no workflow; begin a line with workflow: and indent what belongs to it"
        problems.append(LineProblem(0, message))
    return problems


def _only(text: str, start: int, end: int) -> str:
    """Return a part of the text below as many empty lines as there are lines above it."""
    return "\n" * text.count("\n", 0, start) + text[start:end]


def _has_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith(("#", "---"))


def _line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
