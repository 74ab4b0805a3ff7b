"""Limits for text, times and JSON from outside.

They are checked once for every entry point: PostgreSQL stores neither NUL nor lone surrogates,
and takes no time with an offset of 16 hours. SQLite does not search text of unlimited length, and
deeply nested JSON would exhaust the stack of the code that reads it.
"""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

LONGEST = 256 * 1024  # characters; the longest legitimate text is a kubeconfig
DEEPEST = 40  # levels of JSON
MOST_ITEMS = 1000  # of one list or object
LARGEST = 2**63 - 1  # largest value of an integer column
UNFIT = re.compile("[\0\ud800-\udfff]")

Path = tuple[str | int, ...]


class UnfitJson(ValueError):
    """JSON that is refused. ``faults`` are pairs of path and what is wrong there."""

    def __init__(self, faults: Iterable[tuple[Path, str]]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(text for _, text in self.faults))


def text_fault(text: str) -> str:
    """Return what is wrong with a text from outside, as the end of a sentence; empty if nothing."""
    if len(text) > LONGEST:
        return f"is longer than {LONGEST:,} characters"
    unfit = UNFIT.search(text)
    if unfit is None:
        return ""
    return (
        "contains a NUL character"
        if unfit[0] == "\0"
        else "contains half of a character (a lone surrogate)"
    )


def replace_unfit_characters(text: str) -> str:
    """Return the text with unfit characters replaced, for sources that cannot correct it."""
    return UNFIT.sub("\ufffd", text)


def in_utc(moment: datetime) -> datetime:
    """Return a time in UTC; one without a zone is taken to be in UTC. Raises ``ValueError`` if the
    year is out of range in UTC."""
    try:
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError("is before the year 1 or after the year 9999 in UTC") from error


def parse_json(data: str | bytes) -> Any:
    """Parse JSON from outside. Raises ``UnfitJson`` if it is invalid or exceeds a limit."""
    try:
        value = json.loads(data, parse_constant=_refuse_constant)
    except RecursionError:
        raise UnfitJson([((), f"nests deeper than {DEEPEST} levels")]) from None
    except ValueError as error:
        raise UnfitJson([((), f"is not JSON: {error}")]) from error
    if faults := list(_faults(value)):
        raise UnfitJson(faults)
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _faults(value: Any) -> Iterator[tuple[Path, str]]:
    """Yield the faults of a JSON value. A loop, because recursion would fail on deep nesting."""
    pending: list[tuple[Path, Any]] = [((), value)]
    while pending:
        path, node = pending.pop()
        if isinstance(node, str) and (text := text_fault(node)):
            yield path, text
        elif isinstance(node, int | float) and not abs(node) <= LARGEST:
            yield path, "is too large a number"
        elif isinstance(node, dict | list) and len(path) >= DEEPEST:
            yield path[:3], f"nests deeper than {DEEPEST} levels"
        elif isinstance(node, dict | list) and len(node) > MOST_ITEMS:
            yield path, f"has more than {MOST_ITEMS:,} items"
        elif isinstance(node, dict):
            for key in filter(text_fault, node):
                yield path, f"has a name that {text_fault(key)}"
            pending += [((*path, key), inner) for key, inner in node.items() if not text_fault(key)]
        elif isinstance(node, list):
            pending += [((*path, number), inner) for number, inner in enumerate(node)]
