"""Parse parts of an address into values that every database accepts."""

from collections.abc import Collection, Iterable
from uuid import UUID

from django.http import QueryDict

MOST_DIGITS = 18  # every id column of every database holds that many
LONGEST_TEXT = 200
LONGEST_RANGES = 2000


def parse_number(text: str) -> int | None:
    """The number, or ``None`` if ``text`` is not one or is too large to be an id."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def parse_uuid(text: str) -> UUID | None:
    """The UUID, or ``None`` if ``text`` is not one."""
    try:
        return UUID(text)
    except ValueError:
        return None


def parse_uuids(texts: Iterable[str]) -> list[UUID]:
    """The UUIDs among ``texts``; anything else is skipped."""
    return [uuid for text in texts if (uuid := parse_uuid(text))]


def parse_ranges(text: str, among: Collection[int]) -> tuple[set[int], list[str]]:
    """Parse ranges such as ``0-3,8``: the numbers of ``among`` that they name, and the parts that
    name none."""
    named = set[int]()
    refused = list[str]()
    for part in filter(None, (part.strip() for part in text[:LONGEST_RANGES].split(","))):
        first, dash, last = part.partition("-")
        low = parse_number(first.strip())
        high = parse_number((last if dash else first).strip())
        numbers = {
            one for one in among if low is not None and high is not None and low <= one <= high
        }
        named |= numbers
        if not numbers:
            refused.append(part)
    return named, refused


def format_ranges(numbers: Iterable[int]) -> str:
    """The inverse of :func:`numbers_of`: ``0-3,8`` for 0, 1, 2, 3, 8."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][-1] == number - 1:
            ranges[-1] = [ranges[-1][0], number]
        else:
            ranges.append([number])
    return ",".join("-".join(map(str, ends)) for ends in ranges)


def search_text(query: QueryDict, name: str = "q") -> str:
    """The search text of an address, cut to a length that somebody might type."""
    return query.get(name, "").strip()[:LONGEST_TEXT]


def exact_text(query: QueryDict, name: str) -> str:
    """Like :func:`search_text`, with the spaces around it. Empty if there are only spaces."""
    text = query.get(name, "")[:LONGEST_TEXT]
    return text.strip("\r\n") if text.strip() else ""
