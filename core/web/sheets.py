"""CSV for spreadsheets, line by line."""

import csv
from collections.abc import Callable, Iterable

# A spreadsheet takes a cell that starts with one of these for a formula and runs it.
DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class _Line:
    """csv.writer's idea of a file: it hands back what was written."""

    def write(self, text: str) -> str:
        return text


def harmless(text: str) -> str:
    """Text that no spreadsheet runs: a quote in front makes it text."""
    is_risky = text.lstrip(" ").startswith(DANGEROUS)
    return f"'{text}" if is_risky else text


def line_writer() -> Callable[[Iterable[str]], str]:
    """Makes a line of the cells of a row."""
    writer = csv.writer(_Line())

    def write(cells: Iterable[str]) -> str:
        return str(writer.writerow([harmless(cell) for cell in cells]))

    return write
