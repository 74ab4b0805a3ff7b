"""Reads the tails of the corpus from their files."""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus"
PRODUCED = FOLDER / "produced"  # written by running ``programs/``
HELD_OUT = "held_out"
ORDINARY = "ordinary"
NOTHING = "-"
HEAD = re.compile(r"\n=== (?=[\w/-]+ \| )")  # XLA has lines like "=== Source Location Trace: ==="


@dataclass(frozen=True)
class Tail:
    """The last lines of a log. Any of ``classes`` is right; ``decisive`` are the indices of lines
    that may be named as the cause."""

    name: str
    file: str
    classes: frozenset[str]
    lines: tuple[str, ...]
    decisive: frozenset[int]
    is_produced: bool


def tails() -> list[Tail]:
    return [tail for path in sorted(FOLDER.rglob("*.txt")) for tail in _of(path)]


def _of(path: Path) -> list[Tail]:
    parts = HEAD.split("\n" + path.read_text())[1:]
    return [_tail(path, part) for part in parts]


def _tail(path: Path, part: str) -> Tail:
    head, _, body = part.partition("\n")
    classes, _, name = head.partition(" | ")
    lines = body.rstrip("\n").split("\n")
    return Tail(
        name=f"{classes} | {name}",
        file=path.stem,
        classes=frozenset(classes.split("/")),
        lines=tuple(line.removeprefix("» ") for line in lines),
        decisive=frozenset(n for n, line in enumerate(lines) if line.startswith("» ")),
        is_produced=path.parent == PRODUCED,
    )
