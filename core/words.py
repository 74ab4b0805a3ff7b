"""Words for people, made of values."""

from collections.abc import Sequence


def some(names: Sequence[str]) -> str:
    """The first three, and whether there are others; empty where there are none."""
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
