"""Reads a command line of srun: its options, and the program that it starts. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from spec.imports.options import SRUN, FoundKind
from spec.imports.shell import Command, Word


@dataclass(frozen=True)
class SrunStep:
    """A step. ``unread`` are options that are unknown or wrong."""

    line: int
    options: Mapping[str, str]
    program: tuple[Word, ...]
    unread: tuple[str, ...]


def read_step(command: Command) -> SrunStep | None:
    """Return the step that a command starts; ``None`` if the command is not srun."""
    if command.name.rpartition("/")[2] != "srun":
        return None
    words = command.words[1:]
    options: dict[str, str] = {}
    unread: list[str] = []
    start = len(words)
    for found in SRUN.read([word.value for word in words]):
        if found.kind is FoundKind.WORD:
            start = found.index
            break
        if found.kind is FoundKind.OPTION:
            options[found.name] = found.text
        else:
            unread.append(found.text)
    return SrunStep(command.line, options, tuple(words[start:]), tuple(unread))
