"""Small helpers that put values into words."""

from collections.abc import Sequence


def some(names: Sequence[str]) -> str:
    """The first three names, with "and others" if there are more; empty for no names."""
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
