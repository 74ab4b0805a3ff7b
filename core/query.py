"""What an address says, as values that a database takes."""

from collections.abc import Iterable
from uuid import UUID

from django.http import QueryDict

MOST_DIGITS = 18  # what an id column of every database holds
LONGEST_TEXT = 200


def whole_number(text: str) -> int | None:
    """The number, or ``None`` when ``text`` is none or is too large to be an id."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def uuid_of(text: str) -> UUID | None:
    """The id, or ``None`` when ``text`` is none."""
    try:
        return UUID(text)
    except ValueError:
        return None


def uuids(texts: Iterable[str]) -> list[UUID]:
    """The ids among ``texts``; what is none is left out."""
    return [found for text in texts if (found := uuid_of(text))]


def search_text(query: QueryDict, name: str = "q") -> str:
    """What to search for. PostgreSQL takes no NUL, and nobody types a longer text."""
    return query.get(name, "").replace("\0", "").strip()[:LONGEST_TEXT]
