"""Limits for text, times and JSON that come from outside, whatever they are for.

They are checked once for every entry point: PostgreSQL stores neither NUL nor lone surrogates,
and takes no time with an offset of 16 hours. SQLite does not search text of unlimited length, and
deeply nested JSON would exhaust the stack of whatever walks it.
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
    """What is wrong with a text from outside, as the end of a sentence; empty if nothing is."""
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
    """The text with unfit characters replaced, for sources that cannot be asked to correct it."""
    return UNFIT.sub("\ufffd", text)


def in_utc(moment: datetime) -> datetime:
    """The same moment in UTC, which one without a zone is in already. ``ValueError`` if UTC has no
    such year."""
    try:
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError("is before the year 1 or after the year 9999 in UTC") from error


def parse_json(data: str | bytes) -> Any:
    """Parse JSON from outside. ``UnfitJson`` if it is invalid or exceeds a limit."""
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
    """The faults of a JSON value. Iterative, because it must handle what nests too deeply."""
    left: list[tuple[Path, Any]] = [((), value)]
    while left:
        path, one = left.pop()
        if isinstance(one, str) and (text := text_fault(one)):
            yield path, text
        elif isinstance(one, int | float) and not abs(one) <= LARGEST:
            yield path, "is too large a number"
        elif isinstance(one, dict | list) and len(path) >= DEEPEST:
            yield path[:3], f"nests deeper than {DEEPEST} levels"
        elif isinstance(one, dict | list) and len(one) > MOST_ITEMS:
            yield path, f"has more than {MOST_ITEMS:,} items"
        elif isinstance(one, dict):
            for key in filter(text_fault, one):
                yield path, f"has a name that {text_fault(key)}"
            left += [((*path, key), inner) for key, inner in one.items() if not text_fault(key)]
        elif isinstance(one, list):
            left += [((*path, number), inner) for number, inner in enumerate(one)]
