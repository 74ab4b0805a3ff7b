"""Small helpers that put values into words."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

MOST = 3


def some(names: Sequence[str]) -> str:
    """The first three names, with "and others" if there are more; empty for no names."""
    return ", ".join(names[:MOST]) + (" and others" if len(names) > MOST else "")


def some_names(rows: QuerySet[Any]) -> str:
    """The same of the names of rows."""
    return some(first_names(rows))


def first_names(rows: QuerySet[Any]) -> list[str]:
    """As many names of rows as :func:`some` needs; there may be many thousand rows."""
    return list(rows.order_by("name").values_list("name", flat=True)[: MOST + 1])
