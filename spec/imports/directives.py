"""Reads the ``#SBATCH`` lines of a batch script, and times and sizes as Slurm writes them. Pure."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

LONG_NAMES = {
    **{"J": "job-name", "p": "partition", "t": "time", "N": "nodes", "n": "ntasks"},
    **{"c": "cpus-per-task", "G": "gpus", "D": "chdir", "o": "output", "e": "error"},
    **{"A": "account", "q": "qos", "C": "constraint", "a": "array"},
}
#: Options without a value; all others have one.
WITHOUT_VALUE = {
    "requeue",
    "no-requeue",
    "exclusive",
    "oversubscribe",
    "spread-job",
    "contiguous",
    "hold",
}
SIZE = re.compile(r"^([0-9]{1,12})([KMGT]?)B?$", re.IGNORECASE)
WHOLE = re.compile(r"[0-9]{1,18}\Z")


@dataclass(frozen=True)
class Directive:
    """An option with its long name and the number of its line."""

    line: int
    name: str
    value: str


def parse_directives(text: str) -> Iterator[Directive]:
    """Yield the options before the first command, as Slurm reads them."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#SBATCH"):
            yield from _line_directives(number, line.removeprefix("#SBATCH"))
        elif line.strip() and not line.startswith("#"):
            return


def directive_lines(text: str) -> Iterator[str]:
    """Yield the lines that have these options, unchanged."""
    kept = {option.line for option in parse_directives(text)}
    yield from (line for number, line in enumerate(text.splitlines(), 1) if number in kept)


def _line_directives(number: int, line: str) -> Iterator[Directive]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # a quote without an end
        words = line.split()
    while words:
        word = words.pop(0)
        name, is_given, value = _split_option(word)
        if (
            name
            and not is_given
            and name not in WITHOUT_VALUE
            and words
            and not words[0].startswith("-")
        ):
            value = words.pop(0)
        if name:
            yield Directive(number, name, value)


def _split_option(word: str) -> tuple[str, bool, str]:
    """Return the long name of an option, whether it contains a value, and the value."""
    if word.startswith("--"):
        name, equals, value = word[2:].partition("=")
        return name, bool(equals), value
    if word.startswith("-") and len(word) > 1:
        value = word[2:].removeprefix("=")
        return LONG_NAMES.get(word[1], word[1]), bool(value), value
    return "", False, ""


def parse_whole_number(text: str) -> int | None:
    """Return a number of up to 18 digits from 0 to 9; ``None`` for anything else. ``str.isdigit``
    would accept ``²``, and ``int`` refuses thousands of digits."""
    return int(text) if WHOLE.match(text) else None


def parse_time(text: str) -> int | None:
    """Return the seconds in ``minutes``, ``minutes:seconds``, ``hours:minutes:seconds``,
    ``days-hours`` and so on; ``None`` if it is not a time."""
    days, dash, rest = text.partition("-")
    parts = (rest if dash else text).split(":")
    numbers = [number for part in parts if (number := parse_whole_number(part)) is not None]
    if len(numbers) != len(parts) or len(parts) > 3:
        return None
    if dash:
        hours, minutes, secs = (*numbers, 0, 0)[:3]
        day = parse_whole_number(days)
        return None if day is None else day * 86_400 + hours * 3600 + minutes * 60 + secs
    if len(numbers) == 3:
        return numbers[0] * 3600 + numbers[1] * 60 + numbers[2]
    return numbers[0] * 60 + (numbers[1] if len(numbers) == 2 else 0)


def parse_size(text: str) -> int | None:
    """Return a size in MiB, Slurm's unit if none is given; ``None`` if it is not a size, or 0."""
    match = SIZE.match(text)
    if not match:
        return None
    scale = {"K": 1 / 1024, "M": 1, "": 1, "G": 1024, "T": 1024 * 1024}[match[2].upper()]
    return max(1, round(int(match[1]) * scale)) if int(match[1]) else None
