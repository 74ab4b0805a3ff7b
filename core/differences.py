"""Compare two texts line by line."""

from difflib import unified_diff

TONES = {"+": "added", "-": "removed"}
Lines = tuple[tuple[str, str], ...]


def diff_lines(before: list[str], after: list[str]) -> Lines:
    """Return the differing lines with two unchanged ones around them. The tone of a line is
    ``added``, ``removed`` or empty."""
    lines = list(unified_diff(before, after, n=2, lineterm=""))[2:]
    return tuple((TONES.get(line[:1], ""), line) for line in lines if not line.startswith("@@"))
