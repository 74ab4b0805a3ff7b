"""What an address says, as values that a database takes."""

from django.http import QueryDict

MOST_DIGITS = 18  # what an id column of every database holds
LONGEST_TEXT = 200


def whole_number(text: str) -> int | None:
    """The number, or ``None`` when ``text`` is none or is too large to be an id."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def search_text(query: QueryDict, name: str = "q") -> str:
    """What to search for. PostgreSQL takes no NUL, and nobody types a longer text."""
    return query.get(name, "").replace("\0", "").strip()[:LONGEST_TEXT]
