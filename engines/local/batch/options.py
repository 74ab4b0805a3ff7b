"""Reads the command line of ``srun`` as getopt does for Slurm's own."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from spec.imports.options import SRUN

#: Options that pyxis, a plugin, adds to srun. They are known so that a step can refuse them.
CONTAINER_OPTIONS = {
    *("container-image", "container-mounts", "container-name", "container-env"),
    "container-workdir",
}
WITH_VALUE = SRUN.with_value | CONTAINER_OPTIONS
#: A value only counts if it is in the same word, as in ``-K0`` and ``--exclusive=user``.
WITH_OPTIONAL_VALUE = SRUN.with_optional_value
WITHOUT_VALUE = SRUN.without_value
ALIASES = SRUN.aliases
NAMES = WITHOUT_VALUE | WITH_OPTIONAL_VALUE | WITH_VALUE | ALIASES.keys()


class OptionError(Exception):
    """The command line is wrong; the message says how, in the words of getopt."""


@dataclass
class CommandLine:
    """Options by their long names, and the program with its arguments. An option without a value
    has an empty one."""

    options: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)


def parse_command_line(words: Sequence[str]) -> CommandLine:
    """Read the words after ``srun``. Raises ``OptionError``."""
    result = CommandLine()
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        if word == "--":
            break
        if word.startswith("--"):
            _read_long_option(word, rest, result)
        else:
            _read_short_options(word, rest, result)
    result.command = rest
    return result


def _read_long_option(word: str, rest: list[str], result: CommandLine) -> None:
    given, equals, value = word[2:].partition("=")
    name = _complete_name(given)
    if name in WITHOUT_VALUE:
        if equals:
            raise OptionError(f"option '--{name}' doesn't allow an argument")
    elif name in WITH_VALUE and not equals:
        value = _take_value(f"'--{name}'", rest)
    result.options[name] = value


def _complete_name(given: str) -> str:
    """Return the full name of an option, which may be abbreviated as long as it is clear."""
    matches = {given} if given in NAMES else {name for name in NAMES if name.startswith(given)}
    meanings = {ALIASES.get(name, name) for name in matches}
    if not meanings:
        raise OptionError(f"unrecognized option '--{given}'")
    if len(meanings) > 1:
        raise OptionError(
            f"option '--{given}' is ambiguous: it may be --{', --'.join(sorted(meanings))}"
        )
    return meanings.pop()


def _read_short_options(word: str, rest: list[str], result: CommandLine) -> None:
    letters = word[1:]
    while letters:
        letter = letters[0]
        letters = letters[1:]
        if letter not in SRUN.letters:
            raise OptionError(f"invalid option -- '{letter}'")
        name = SRUN.letters[letter]
        value = ""
        if name in WITH_VALUE:
            value = letters.removeprefix("=") or _take_value(f"-- '{letter}'", rest)
            letters = ""
        elif name in WITH_OPTIONAL_VALUE:
            value = letters
            letters = ""
        result.options[name] = value


def _take_value(label: str, rest: list[str]) -> str:
    if not rest:
        raise OptionError(f"option {label} requires an argument")
    return rest.pop(0)
