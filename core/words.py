"""Small helpers that put values into words."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import QuerySet

MOST_NAMES = 3


def name_first_three(names: Sequence[str]) -> str:
    """Return the first three names, with "and others" if there are more; empty for no names."""
    return ", ".join(names[:MOST_NAMES]) + (" and others" if len(names) > MOST_NAMES else "")


def count_nouns(counts: Iterable[tuple[int, str]]) -> str:
    """Return numbers with their nouns, such as ``3 workloads and 1 template``, without zeros."""
    words = [f"{count} {noun if count == 1 else _plural(noun)}" for count, noun in counts if count]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _plural(noun: str) -> str:
    return f"{noun.removesuffix('y')}ies" if noun.endswith("cy") else f"{noun}s"


def first_names(rows: QuerySet[Any]) -> list[str]:
    """Return as many names as :func:`name_first_three` needs, because there may be many rows."""
    return list(rows.order_by("name").values_list("name", flat=True)[: MOST_NAMES + 1])
