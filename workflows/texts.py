"""The texts of workflows: what one was read from, and what people may see of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spec.values.variable import MASK, looks_secret

#: A key with a value on the same line, as a mapping of variables has them: one of a line, whose
#: value is the rest of the line, and one of several between braces.
KEY = r"[\"']?(?P<name>[\w.-]+)[\"']?[ \t]*:[ \t]+"
PAIRS = (
    re.compile(rf"(?P<start>^[ \t-]*{KEY})(?P<value>\S.*)$", re.MULTILINE),
    re.compile(
        rf"(?P<start>[{{,][ \t]*{KEY})(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^,}}\n]+)", re.MULTILINE
    ),
)


@dataclass(frozen=True)
class WorkflowText:
    """What a workflow was read from: the text that was handed in, with the files that it names by
    their path, the variables that were set, and the environment variables and the size of its
    tasks; the text without variables; and what became of each part of it."""

    original: str = ""
    rendered: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    task_size: str = ""
    report: Sequence[dict[str, Any]] = ()


def mask_secrets(text: str) -> str:
    """Return a workflow's text without the values of variables that look secret."""

    def mask(pair: re.Match[str]) -> str:
        return f"{pair['start']}{MASK}" if looks_secret(pair["name"]) else pair[0]

    for pattern in PAIRS:
        text = pattern.sub(mask, text)
    return text


def mask_variables(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return variables by name, without the values of those that look secret."""
    return {name: MASK if looks_secret(name) else value for name, value in variables.items()}
