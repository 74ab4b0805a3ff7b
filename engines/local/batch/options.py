"""Reads the command line of ``srun``."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from spec.imports import options
from spec.imports.options import Found, FoundKind

#: Options that pyxis, a plugin, adds to srun. They are known so that a step can refuse them.
CONTAINER_OPTIONS = {
    "container-image",
    "container-mounts",
    "container-name",
    "container-env",
    "container-workdir",
}
SRUN = replace(options.SRUN, with_value=options.SRUN.with_value | CONTAINER_OPTIONS)


class OptionError(Exception):
    """The command line is wrong; the message says how."""


@dataclass
class CommandLine:
    """Options by their long names, and the program with its arguments. An option without a value
    has an empty one."""

    options: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)


def parse_command_line(words: Sequence[str]) -> CommandLine:
    """Read the words after ``srun``. Raises ``OptionError``."""
    line = CommandLine()
    for found in SRUN.read(words):
        if found.kind is FoundKind.WORD:
            line.command = list(words[found.index :])
            break
        if found.kind is not FoundKind.OPTION:
            raise OptionError(_describe_problem(found))
        line.options[found.name] = found.text
    return line


def _describe_problem(found: Found) -> str:
    """Return what is wrong with an option; of an unknown one in the words of srun."""
    if found.kind is FoundKind.REFUSED:
        return found.text
    if found.text.startswith("--"):
        return f"unrecognized option '{found.text}'"
    return f"invalid option -- '{found.text.removeprefix('-')}'"
