"""Replaces the tokens of a task, such as ``{{output}}``.

Two of them stay: ``{{workflow_id}}`` is known only when the workflow is submitted, and ``{{uuid}}``
is replaced nowhere, by OSMO neither.
"""

import re
from collections.abc import Mapping, Sequence

from workflows.claims import INPUT_FOLDER, OUTPUT_FOLDER

OUTPUT_TOKEN = "{{output}}"  # noqa: S105 -- not a password
TOKEN = re.compile(r"\{\{\s*(output|(input|host):([^{}\s]+))\s*\}\}")


class UnknownToken(ValueError):
    """A token that stands for nothing; the message says why."""


class TaskTokens:
    """The values of the tokens of one task. ``hosts`` has the host name of each task of its group;
    ``inputs`` names the task that each input comes from, or is empty where it is none."""

    def __init__(self, hosts: Mapping[str, str], inputs: Sequence[str]) -> None:
        self.hosts = hosts
        self.inputs = inputs

    def replace(self, text: str) -> str:
        """Return the text with values in place of tokens. Raises ``UnknownToken``."""
        return TOKEN.sub(self._value, text)

    def _value(self, match: re.Match[str]) -> str:
        word, kind, name = match.groups()
        if word == "output":
            return OUTPUT_FOLDER
        if kind == "host":
            if name not in self.hosts:
                raise UnknownToken(f"{match[0]}: the group has no task {name}")
            return self.hosts[name]
        return f"{INPUT_FOLDER}/{self._input_number(match[0], name)}"

    def _input_number(self, token: str, name: str) -> int:
        if name in self.inputs:
            return self.inputs.index(name)
        if name.isascii() and name.isdigit() and int(name) < len(self.inputs):
            return int(name)
        raise UnknownToken(f"{token}: the task has {len(self.inputs)} inputs, counted from 0")
