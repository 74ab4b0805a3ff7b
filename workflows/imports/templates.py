"""Renders workflow files that are Jinja templates, once, in a process of their own.

OSMO renders what its command line sends twice, local files included. Here a file is rendered once,
and local files never: programs stay as they are.
"""

import json
import math
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spec.formats.lines import LONGEST, LineProblem, YamlError, parse_mapping
from workflows.imports.sections import DEFAULTS, Sections

#: Tokens that are replaced when a task starts. Jinja must not see them.
TOKEN = re.compile(r"\{\{(uuid|workflow_id|output|(?:input|host):[^{}\s]+)\}\}")
TOKEN_MARKS = ("\ue000", "\ue001")
IS_TEMPLATE = re.compile(r"\{[{%#]")
LINE_MARK = re.compile("\ue002([0-9]+)\ue003")
SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PROCESSOR_SECONDS = 0.5
#: Of the clock: a backstop for a machine that has no time for the process.
SECONDS = 30
TOO_SLOW = "The template takes too long to render; look for an endless loop"
TOO_LARGE = "The template cannot be rendered: it ended early, such as for lack of memory"


@dataclass(frozen=True)
class RenderedText:
    """A rendered file. ``origins`` has, for each of its lines, the line of the file that it comes
    from."""

    text: str
    origins: tuple[int, ...]

    def origin_of(self, line: int) -> int:
        """Return the line of the file that a line of the text comes from. Both count from 1; 0
        stands for the entire text."""
        return self.origins[min(line, len(self.origins)) - 1] if line else 0


def parse_settings(
    pairs: Iterable[str] = (), text_pairs: Iterable[str] = ()
) -> dict[str, int | float | str]:
    """Parse the ``NAME=VALUE`` of ``--set``, whose values become numbers where they look like one,
    and of ``--set-string``, which win. Raises ``ValueError``, which names the wrong pair."""
    numbers = {name: _number_or_text(value) for name, value in map(_divide_setting, pairs)}
    return numbers | dict(map(_divide_setting, text_pairs))


def _divide_setting(pair: str) -> tuple[str, str]:
    name, value = divide_pair(pair)
    if not SETTING.fullmatch(name):
        raise ValueError(f"{pair!r} is not NAME=VALUE; a name has letters, digits and _")
    return name, value


def divide_pair(pair: str) -> tuple[str, str]:
    """Return the name and the value of ``NAME=VALUE``. Raises ``ValueError`` for another text."""
    name, equals, value = pair.partition("=")
    if not (name and equals):
        raise ValueError(f"{pair!r} is not NAME=VALUE")
    return name, value


def _number_or_text(value: str) -> int | float | str:
    for kind in (int, float):
        try:
            number = kind(value)
        except ValueError:
            continue
        if math.isfinite(number):
            return number
    return value


def render_sections(sections: Sections, settings: Mapping[str, Any]) -> RenderedText:
    """Render the workflow with its default values, over which ``settings`` win. Raises
    ``YamlError``."""
    values = _default_values(sections.defaults) | dict(settings)
    template = mask_tokens(sections.workflow)
    if not IS_TEMPLATE.search(template):
        lines = range(1, sections.workflow.count("\n") + 2)
        return RenderedText(sections.workflow, tuple(lines))
    marked = _run_sandbox(template, values)
    return _trace_lines(restore_tokens(marked))


def mask_tokens(text: str) -> str:
    """Return a text in which neither Jinja nor YAML sees the braces of tokens."""
    begin, end = TOKEN_MARKS
    return TOKEN.sub(rf"{begin}\1{end}", text)


def restore_tokens(text: str) -> str:
    """The inverse of :func:`mask_tokens`."""
    begin, end = TOKEN_MARKS
    return re.sub(f"{begin}([^{end}]*){end}", r"{{\1}}", text)


def _default_values(text: str) -> dict[str, Any]:
    if not text:
        return {}
    parsed = parse_mapping(text)
    values = parsed.values[DEFAULTS]
    if values is None:
        return {}
    if not isinstance(values, dict):
        message = f"{DEFAULTS} must be a mapping, such as “nodes: 2” below it"
        raise YamlError([LineProblem(parsed.line_of((DEFAULTS,)), message)])
    return values


def _run_sandbox(template: str, values: Mapping[str, Any]) -> str:
    request = {
        "template": template,
        "values": values,
        "longest": LONGEST,
        "seconds": PROCESSOR_SECONDS,
    }
    # By its path and isolated: neither our modules nor our environment are within its reach.
    program = Path(__file__).with_name("sandbox.py")
    try:
        ended = subprocess.run(
            [sys.executable, "-I", str(program)],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            env={},
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise YamlError([LineProblem(0, TOO_SLOW)]) from None
    if ended.returncode == -signal.SIGPROF:
        raise YamlError([LineProblem(0, TOO_SLOW)])
    if ended.returncode:
        raise YamlError([LineProblem(0, TOO_LARGE)])
    answer = json.loads(ended.stdout)
    if "error" in answer:
        raise YamlError([LineProblem(answer["line"], answer["error"])])
    return str(answer["text"])


def _trace_lines(marked: str) -> RenderedText:
    """Take the marks of the sandbox out of a text, and keep the lines that they say."""
    lines = []
    origins = []
    origin = 1
    for line in marked.split("\n"):
        marks = LINE_MARK.findall(line)
        origin = int(marks[0]) if marks else origin
        lines.append(LINE_MARK.sub("", line))
        origins.append(origin)
    return RenderedText("\n".join(lines), tuple(origins))
