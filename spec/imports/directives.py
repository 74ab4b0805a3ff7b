"""Reads the ``#SBATCH`` lines of a batch script as sbatch does, and times and sizes as Slurm writes
them. Pure.

sbatch reads the lines before the first command. It joins the words of all of them, and hands these
to ``getopt_long``, so that a value may even stand on the next line.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from spec.imports.options import SBATCH, Found, FoundKind, Takes

MAGIC = "#SBATCH"
#: ``isspace`` of C. Python would also split at other spaces, such as U+00A0.
BLANKS = " \t\n\v\f\r"
SEPARATOR = re.compile(r"(hetjob|packjob)(?![^\s#])", re.IGNORECASE | re.ASCII)
#: Lines of other systems, whose options sbatch translates.
FOREIGN = ("#PBS", "#BSUB")
LIKE_MAGIC = re.compile(r"\s*#sbatch\b", re.IGNORECASE)
#: What must not be handed on: the words that end a sentence which begins with the option.
WITHHELD = {
    "wait": "would hold up the submissions of the cluster",
    "test-only": "would submit nothing",
    "parsable": "changes what sbatch prints, which Trainyard reads",
    "quiet": "changes what sbatch prints, which Trainyard reads",
}
#: An array's elements are jobs of their own.
NOT_HANDED_ON = {*WITHHELD, "array"}
AFTER_COMMAND = "sbatch reads no option after the first command, which is in line {}."
SIZE = re.compile(r"^([0-9]{1,12})([KMGT]?)B?$", re.IGNORECASE)
WHOLE = re.compile(r"[0-9]{1,18}\Z")


@dataclass(frozen=True)
class Note:
    """A note about a line. One that ``blocks`` must be resolved first."""

    line: int
    text: str
    blocks: bool = False


@dataclass(frozen=True)
class Directive:
    """An option with its long name and the number of its line."""

    line: int
    name: str
    value: str


@dataclass
class Header:
    """What sbatch reads of a script. ``length`` is the number of lines before the first command.
    ``parts`` has the options of each part of a heterogeneous job; other jobs have one part.
    ``separators`` are the lines between the parts."""

    length: int
    parts: list[list[Directive]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    separators: list[int] = field(default_factory=list)

    @property
    def directives(self) -> list[Directive]:
        """The options of the first part, which has the name and the output of the job."""
        return self.parts[0]

    @property
    def all_directives(self) -> list[Directive]:
        return [directive for part in self.parts for directive in part]


@dataclass(frozen=True)
class _Word:
    line: int
    text: str


def split_lines(text: str) -> list[str]:
    """Split a text where sbatch and shells do, at line feeds alone. ``str.splitlines`` would also
    split at form feeds and U+2028."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def read_header(text: str) -> Header:
    """Read the options before the first command, as sbatch does."""
    lines = split_lines(text)
    header = Header(_header_length(lines))
    parts: list[list[_Word]] = [[]]
    for number, line in enumerate(lines[: header.length], 1):
        if line.startswith(MAGIC):
            options = line.removeprefix(MAGIC).lstrip(BLANKS)
            if is_separator(line):
                header.separators.append(number)
                parts.append([])
            else:
                parts[-1] += _line_words(header, number, options)
        elif line.startswith(FOREIGN):
            text = f"sbatch reads this line too. Write {MAGIC} with an option of sbatch instead."
            header.notes.append(Note(number, text))
        elif LIKE_MAGIC.match(line):
            text = f"This is a comment to sbatch: {MAGIC} has to begin the line, in capitals."
            header.notes.append(Note(number, text))
    header.parts = [_read_options(header, words) for words in parts]
    return header


def is_separator(line: str) -> bool:
    """Whether another part of a heterogeneous job begins after the line."""
    options = line.removeprefix(MAGIC).lstrip(BLANKS)
    return line.startswith(MAGIC) and SEPARATOR.match(options) is not None


def parse_directives(text: str) -> list[Directive]:
    """Return the options before the first command, as sbatch reads them; of a heterogeneous job
    those of its first part."""
    return read_header(text).directives


def late_directives(text: str) -> Iterator[tuple[int, int]]:
    """Yield the lines after the first command that look as if they had options, and the line of
    that command."""
    lines = split_lines(text)
    length = _header_length(lines)
    for number, line in enumerate(lines[length:], length + 1):
        if line.startswith(MAGIC):
            yield number, length + 1


def directive_lines(text: str) -> Iterator[str]:
    """Yield the comments before the first command, without the interpreter. They are unchanged,
    unless they have options that must not be handed on."""
    header = read_header(text)
    withholds = any(option.name in NOT_HANDED_ON for option in header.all_directives)
    for number, line in enumerate(split_lines(text)[: header.length], 1):
        if number == 1 and line.startswith("#!"):
            continue
        if not line.lstrip(" \t").startswith("#"):
            continue  # blank to sbatch, but not to bash if it is a form feed
        if not withholds or not line.startswith(MAGIC) or number in header.separators:
            yield line
            continue
        for option in header.all_directives:
            if option.line == number and option.name not in NOT_HANDED_ON:
                yield f"{MAGIC} {_written_option(option)}"


def _written_option(option: Directive) -> str:
    """Write an option as sbatch reads it back."""
    if not option.value and SBATCH.takes(option.name) is not Takes.VALUE:
        return f"--{option.name}"
    escaped = option.value.replace("\\", "\\\\").replace('"', '\\"')
    return f'--{option.name}="{escaped}"'


def _header_length(lines: Sequence[str]) -> int:
    """Return the number of lines before the first one that is neither blank nor a comment."""
    for number, line in enumerate(lines):
        text = line.lstrip(BLANKS)
        if text and not text.startswith("#"):
            return number
    return len(lines)


def _line_words(header: Header, number: int, line: str) -> list[_Word]:
    """Split the options of a line into words. A ``#`` outside quotes, an empty word, or the
    separator of parts ends it."""
    words = []
    rest = line
    while rest and not rest.startswith("#") and not SEPARATOR.match(rest):
        if rest.startswith(":"):
            text = f"sbatch refuses the colon before {rest[1:] or 'the end'!r}; put it in quotes"
            header.notes.append(Note(number, text, blocks=True))
            break
        try:
            word, rest = _split_word(rest)
        except ValueError as error:
            header.notes.append(Note(number, str(error), blocks=True))
            break
        if not word:
            break
        words.append(_Word(number, word))
        rest = rest.lstrip(BLANKS)
    return words


def _split_word(text: str) -> tuple[str, str]:
    """Split the first word off. Raises ``ValueError`` if a quote does not end."""
    word = ""
    quote = ""
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\":
            word += text[position + 1 : position + 2]
            position += 1
        elif quote and character == quote:
            quote = ""
        elif quote:
            word += character
        elif character in "\"'":
            quote = character
        elif character in BLANKS or character == "#":
            break
        else:
            word += character
        position += 1
    if quote:
        raise ValueError(f"sbatch finds no end of the quote {quote}")
    return word, text[position:]


def _read_options(header: Header, words: Sequence[_Word]) -> list[Directive]:
    """Return the options in the words. What sbatch refuses becomes a note that blocks."""
    directives: list[Directive] = []
    unknown: Found | None = None
    for found in SBATCH.read([word.text for word in words]):
        line = words[found.index].line
        if found.kind is FoundKind.OPTION:
            directives.append(Directive(line, found.name, found.text))
            if why := WITHHELD.get(found.name):
                header.notes.append(Note(line, f"--{found.name} is left out: it {why}."))
        elif found.kind is FoundKind.UNKNOWN:
            unknown = found
            text = f"sbatch has no option {found.text}, unless a plugin of the cluster adds it."
            header.notes.append(Note(line, text))
        elif found.kind is FoundKind.REFUSED:
            header.notes.append(Note(line, found.text, blocks=True))
        elif unknown is None or found.index > unknown.index + 1:
            # the word after an unknown option may be its value
            text = f"sbatch refuses {found.text!r}, which belongs to no option; remove it"
            header.notes.append(Note(line, text, blocks=True))
    return directives


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
