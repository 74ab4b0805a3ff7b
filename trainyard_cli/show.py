"""What commands print: tables that other programs can read, JSON, YAML, or names alone."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from enum import Enum
from typing import Any, TextIO

from trainyard_cli.notes import note

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
    """What ``-o`` takes."""

    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    WIDE = "wide"
    TABLE = "table"


@dataclass(frozen=True)
class TextColumn:
    """``wide`` ones are shown by ``-o wide`` alone."""

    head: str
    text: Callable[[Item], str]
    wide: bool = False


def listing(
    items: Sequence[Item],
    columns: Sequence[TextColumn],
    output: Format | None,
    *,
    headers: bool = True,
    name: Callable[[Item], str] = lambda item: str(item["name"]),
    empty: str = "",
) -> None:
    """A list as ``-o`` wants it. ``empty`` goes to standard error where a table has no rows."""
    if document(list(items), output):
        return
    if output is Format.NAME:
        for item in items:
            print(name(item))
        return
    if not items and empty:
        note(empty)
        return
    shown = [it for it in columns if output is Format.WIDE or not it.wide]
    rows = [[column.text(item) for column in shown] for item in items]
    grid([[column.head for column in shown], *rows] if headers else rows)


def document(value: Any, output: Format | None) -> bool:
    """Print it where it is asked for as a document; whether it was."""
    if output is Format.JSON:
        print(json.dumps(value, indent=2, ensure_ascii=False))
    elif output is Format.YAML:
        import yaml

        print(yaml.safe_dump(value, sort_keys=False, allow_unicode=True), end="")
    return output in {Format.JSON, Format.YAML}


def grid(rows: Sequence[Sequence[str]], indent: str = "") -> None:
    """Columns as wide as what they hold: nothing is cut, so that other programs can read it."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [phase(cell, f"{cell:<{width}}") for cell, width in zip(row, widths, strict=True)]
        print((indent + GAP.join(cells)).rstrip())


def phase(word: str, text: str = "") -> str:
    """A phase in its color, on a terminal."""
    color = COLORS.get(word)
    return f"\033[{color}m{text or word}\033[0m" if color and is_colored(sys.stdout) else text


def is_colored(stream: TextIO) -> bool:
    import os

    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def facts(pairs: Iterable[tuple[str, str]]) -> None:
    """Name and value, one a line; what has no value is left out."""
    given = [(name, value) for name, value in pairs if value]
    width = max((len(name) for name, _ in given), default=0) + 1
    for name, value in given:
        print(f"{name + ':':<{width}} {phase(value, value)}")


def age(moment: str | None, now: datetime | None = None) -> str:
    """How long ago: ``3d``, ``2h``, ``5m``, ``12s``."""
    if not moment:
        return "–"
    then = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    return duration(((now or datetime.now(timezone.utc)) - then).total_seconds())


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    whole = max(int(seconds), 0)
    size, unit = next((it for it in UNITS if whole >= it[0]), UNITS[-1])
    rest = next((it for it in UNITS if it[0] < size), None)
    head = f"{whole // size}{unit}"
    more = whole % size // rest[0] if rest and whole // size < 10 else 0
    return f"{head}{more}{rest[1]}" if rest and more else head


def sentences(*texts: str) -> str:
    """Titles and sentences one after the other, each with a full stop."""
    return " ".join(text if text[-1] in ".!?" else f"{text}." for text in texts if text)


def number(value: float | None) -> str:
    return "–" if value is None else f"{round(value, 3):g}"


def memory(size: float | None) -> str:
    """Bytes in decimal units, as the pages have them."""
    if size is None:
        return "–"
    value = float(size)
    for unit in ("B", "KB", "MB", "GB"):
        if abs(value) < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"
