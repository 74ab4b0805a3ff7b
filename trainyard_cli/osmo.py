"""Text as OSMO's command line prints it."""

from collections.abc import Sequence
from datetime import datetime
from enum import Enum

from trainyard_cli.show import GAP

TIME = "%b %d, %Y %H:%M %Z"


class TextOrJson(str, Enum):
    """Values of ``-t``."""

    TEXT = "text"
    JSON = "json"


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table as OSMO does: without borders, ruled with ``=``."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for number, row in enumerate([heads, *rows]):
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)]
        print(GAP.join(cells).rstrip())
        if number == 0:
            print("=" * (sum(widths) + len(GAP) * (len(widths) - 1)))


def local_time(moment: str | None) -> str:
    """Return a moment in ISO 8601 in the zone of this machine. A dash if there is none."""
    if not moment:
        return "-"
    return datetime.fromisoformat(moment.replace("Z", "+00:00")).astimezone().strftime(TIME)
