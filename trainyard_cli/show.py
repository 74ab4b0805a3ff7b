"""How commands print: tables that other programs can read, JSON, YAML, or names alone."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from enum import Enum
from typing import Any, TextIO

from trainyard_cli.notes import print_note

Item = dict[str, Any]
GAP = "  "
COLORS = {
    "Running": 32,
    "Completed": 34,
    "Failed": 31,
    "Degraded": 31,
    "Stopped": 90,
    "Pending": 33,
}
UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


class Format(str, Enum):
    """Values of ``-o``."""

    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    WIDE = "wide"
    TABLE = "table"


@dataclass(frozen=True)
class TextColumn:
    """A column of a table: its head, and the text of its cell. Only ``-o wide`` shows ``wide``
    ones."""

    head: str
    text: Callable[[Item], str]
    wide: bool = False


def print_list(
    items: Sequence[Item],
    columns: Sequence[TextColumn],
    output: Format | None,
    *,
    headers: bool = True,
    name: Callable[[Item], str] = lambda item: str(item["name"]),
    empty: str = "",
) -> None:
    """Print a list in the format of ``-o``.

    ``name`` is what ``-o name`` prints of each item. ``empty`` is printed on standard error instead
    of a table without rows.
    """
    if print_document(list(items), output):
        return
    if output is Format.NAME:
        for item in items:
            print(name(item))
        return
    if not items and empty:
        print_note(empty)
        return
    chosen = [it for it in columns if output is Format.WIDE or not it.wide]
    rows = [[column.text(item) for column in chosen] for item in items]
    print_columns([[column.head for column in chosen], *rows] if headers else rows)


def print_document(value: Any, output: Format | None) -> bool:
    """Print ``value`` if ``output`` is JSON or YAML, and return whether it is."""
    if output is Format.JSON:
        print(json.dumps(value, indent=2, ensure_ascii=False))
    elif output is Format.YAML:
        import yaml

        print(yaml.safe_dump(value, sort_keys=False, allow_unicode=True), end="")
    return output in {Format.JSON, Format.YAML}


def print_columns(rows: Sequence[Sequence[str]], indent: str = "") -> None:
    """Print rows in columns that are as wide as their widest cell: nothing is cut, so that other
    programs can read it."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            color_phase(cell, f"{cell:<{width}}") for cell, width in zip(row, widths, strict=True)
        ]
        print((indent + GAP.join(cells)).rstrip())


def color_phase(word: str, text: str) -> str:
    """Return ``text``, the word padded to a width, in the color of the phase if it is one and
    output goes to a terminal."""
    color = COLORS.get(word)
    return f"\033[{color}m{text}\033[0m" if color and is_colored(sys.stdout) else text


def is_colored(stream: TextIO) -> bool:
    """Whether a stream is a terminal whose user wants colors."""
    import os

    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_facts(pairs: Iterable[tuple[str, str]]) -> None:
    """Print a name and its value on each line, without those that have no value."""
    facts = [(name, value) for name, value in pairs if value]
    width = max((len(name) for name, _ in facts), default=0) + 1
    for name, value in facts:
        print(f"{name + ':':<{width}} {color_phase(value, value)}")


def format_age(moment: str | None, now: datetime | None = None) -> str:
    """Return how long ago a moment in ISO 8601 was, as ``3d``, ``2h``, ``5m`` or ``12s``. A dash if
    there is none."""
    if not moment:
        return "–"
    then = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    return format_duration(((now or datetime.now(timezone.utc)) - then).total_seconds())


def format_duration(seconds: float | None) -> str:
    """Return a number of seconds as people write it: ``12s``, ``2h30m``, ``12d``. A dash for
    ``None``."""
    if seconds is None:
        return "–"
    total = max(int(seconds), 0)
    size, unit = next((it for it in UNITS if total >= it[0]), UNITS[-1])
    smaller = next((it for it in UNITS if it[0] < size), None)
    head = f"{total // size}{unit}"
    more = total % size // smaller[0] if smaller and total // size < 10 else 0
    return f"{head}{more}{smaller[1]}" if smaller and more else head


def join_sentences(*texts: str) -> str:
    """Join titles and sentences, and end each with a full stop."""
    return " ".join(text if text[-1] in ".!?" else f"{text}." for text in texts if text)


def format_number(value: float | None) -> str:
    """Return a number with at most three decimals. A dash for ``None``."""
    return "–" if value is None else f"{round(value, 3):g}"


def format_memory(size: float | None) -> str:
    """Return a number of bytes in decimal units, as the pages show it. A dash for ``None``."""
    if size is None:
        return "–"
    value = float(size)
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if abs(value) < 1000 or unit == "TB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if abs(value) >= 100 else f"{value:.3g} {unit}"
