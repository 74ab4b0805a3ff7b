"""Finds what a reader of a batch script has to replace, such as ``[YOUR_CONDA_ENV]``. Pure.

A value of a ``#SBATCH`` line and a word of its own are surely meant as placeholders. Brackets in
quotes, in variables and in texts are not.
"""

import re
from collections.abc import Iterator, Sequence

from spec.imports.directives import Directive, Note
from spec.imports.shell import Command, Statement, commands_of

BRACKETS = re.compile(r"\[[A-Z][A-Z0-9_ -]{3,}\]")
#: In values of options: ``<your_account>``, ``{{ account }}``, ``YOUR_ACCOUNT``, ``/path/to/data``.
TEMPLATES = re.compile(
    r"<[A-Za-z][^<>]*>|\{\{[^{}]*\}\}|\bYOUR[_-][A-Z0-9_-]+|/path/to\b[\w./-]*", re.ASCII
)
LIKELY = re.compile(r"\byour[_-][a-z0-9_-]+", re.ASCII)
#: Options whose values are texts, or have no effect in Trainyard.
HARMLESS = {"comment", "output", "error", "mail-user"}
#: Sets of characters, such as ``[A-Z0-9]``.
CHARACTER_SET = re.compile(r"\[(?:A-[A-Z]|0-9|[_ -])+\]")
#: Commands whose arguments are texts or patterns.
TEXT_COMMANDS = {"echo", "printf", "logger", "tr", "grep", "egrep", "sed", "awk", "expr", "[", "[["}
WHOLE_WORD = re.compile(rf"(?<!\S){BRACKETS.pattern}(?!\S)")
PART_OF_WORD = re.compile(
    rf"(?<=[=:/]){BRACKETS.pattern}(?=[\s/]|$)|(?<!\S){BRACKETS.pattern}(?=/)"
)


def has_placeholder(value: str) -> bool:
    """Whether a value of an option still has to be replaced."""
    return bool(BRACKETS.search(value) or TEMPLATES.search(value))


def placeholder_notes(
    directives: Sequence[Directive], statements: Sequence[Statement]
) -> Iterator[Note]:
    """Yield a note for each placeholder. Those that may mean something else do not block."""
    for option in directives:
        yield from _value_notes(option)
    for statement in statements:
        for command in commands_of(statement):
            if command.name not in TEXT_COMMANDS:
                yield from _word_notes(command)


def _value_notes(option: Directive) -> Iterator[Note]:
    brackets = BRACKETS.findall(option.value)
    templates = TEMPLATES.findall(option.value)
    for text in brackets:
        yield _note(option.line, text, is_sure=option.name != "comment")
    for text in templates:
        yield _note(option.line, text, is_sure=option.name not in HARMLESS)
    if not brackets and not templates and (match := LIKELY.search(option.value)):
        yield _note(option.line, match[0], is_sure=False)


def _word_notes(command: Command) -> Iterator[Note]:
    """Yield notes for words without quotes and variables. A placeholder with blanks is several
    words."""
    words = [*command.assignments, *command.words[1:]]
    text = " ".join(word.text if word.text == word.code else "''" for word in words)
    for pattern, is_sure in ((WHOLE_WORD, True), (PART_OF_WORD, False)):
        for found in pattern.findall(text):
            if not CHARACTER_SET.fullmatch(found):
                yield _note(command.line, found, is_sure=is_sure)


def _note(line: int, text: str, *, is_sure: bool) -> Note:
    if is_sure:
        return Note(line, f"{text} has to be replaced by a value", blocks=True)
    return Note(line, f"{text} looks like a placeholder. If it is one, replace it by a value.")
