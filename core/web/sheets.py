"""CSV for spreadsheets, streamed line by line."""

import csv
from collections.abc import Callable, Iterable

# Spreadsheets treat a cell that starts with one of these as a formula, and run it.
DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class _Line:
    """A file for csv.writer that returns what was written instead of storing it."""

    def write(self, text: str) -> str:
        return text


def escape_formula(text: str) -> str:
    """Escape text that a spreadsheet would run, with a quote in front."""
    is_risky = text.lstrip(" ").startswith(DANGEROUS)
    return f"'{text}" if is_risky else text


def line_writer() -> Callable[[Iterable[str]], str]:
    """A function that turns the cells of a row into a line of CSV."""
    writer = csv.writer(_Line())

    def write(cells: Iterable[str]) -> str:
        return str(writer.writerow([escape_formula(cell) for cell in cells]))

    return write
