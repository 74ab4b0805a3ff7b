"""Parse parts of an address into values that every database accepts."""

from collections.abc import Collection, Iterable
from math import isfinite
from uuid import UUID

from django.http import QueryDict

MOST_DIGITS = 18  # every id column of every database holds that many
LONGEST_NUMBER = 40  # characters
LONGEST_TEXT = 200
LONGEST_RANGES = 2000


def parse_number(text: str) -> int | None:
    """Return the number; ``None`` if ``text`` is not one or is too large to be an id."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def parse_decimal(text: str) -> float | None:
    """Return the finite number, such as ``-1.5``; ``None`` if ``text`` is not one."""
    try:
        number = float(text[:LONGEST_NUMBER])
    except ValueError:
        return None
    return number if isfinite(number) else None


def parse_uuid(text: str) -> UUID | None:
    """Return the UUID; ``None`` if ``text`` is not one."""
    try:
        return UUID(text)
    except ValueError:
        return None


def parse_uuids(texts: Iterable[str]) -> list[UUID]:
    """Return the UUIDs among ``texts``; skip all others."""
    return [uuid for text in texts if (uuid := parse_uuid(text))]


def parse_ranges(text: str, among: Collection[int]) -> tuple[set[int], list[str]]:
    """Parse ranges such as ``0-3,8``. Return the numbers of ``among`` in them, and the parts that
    contain none."""
    found = set[int]()
    refused = list[str]()
    parts = (part.strip() for part in text[:LONGEST_RANGES].split(","))
    for part in filter(None, parts):
        first, dash, last = part.partition("-")
        low = parse_number(first.strip())
        high = parse_number((last if dash else first).strip())
        numbers = set[int]()
        if low is not None and high is not None:
            numbers = {number for number in among if low <= number <= high}
        found |= numbers
        if not numbers:
            refused.append(part)
    return found, refused


def format_ranges(numbers: Iterable[int]) -> str:
    """Invert :func:`parse_ranges`: return ``0-3,8`` for 0, 1, 2, 3, 8."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][-1] == number - 1:
            ranges[-1] = [ranges[-1][0], number]
        else:
            ranges.append([number])
    return ",".join("-".join(map(str, ends)) for ends in ranges)


def search_text(query: QueryDict, name: str = "q") -> str:
    """Return the search text of an address, cut to ``LONGEST_TEXT``."""
    return query.get(name, "").strip()[:LONGEST_TEXT]


def exact_text(query: QueryDict, name: str) -> str:
    """Like :func:`search_text`, with the spaces around it. Empty if there are only spaces."""
    text = query.get(name, "")[:LONGEST_TEXT]
    return text.strip("\r\n") if text.strip() else ""
