"""What a training says: samples for the machine, lines for people. Both on stdout."""

import json
import math
import sys
from pathlib import Path
from typing import TypeAlias

Value: TypeAlias = float | int | str | None


def report(*, step: float, **values: Value) -> None:
    """Print one sample: a JSON object on a line of its own, with a number `step`.

    Trainyard draws every other number of it as a curve. A number that is not finite
    becomes null, because JSON has no word for it.
    """
    _write(sample(step=step, **values))


def sample(*, step: float, **values: Value) -> str:
    """The line that `report` prints, without printing it."""
    if isinstance(step, bool) or not isinstance(step, int | float):
        raise TypeError(f"step must be a number, not {type(step).__name__}")
    return json.dumps({"step": step} | {name: _finite(value) for name, value in values.items()})


def say(text: str) -> None:
    """Print one line for people."""
    _write(text)


class Reporter:
    """Rank 0's voice: `report`, with a copy in `<folder>/metrics.jsonl` where a folder is named.

    The other ranks have one that stays silent, so that the loop need not ask who it is.
    """

    def __init__(self, folder: Path | None, *, speaks: bool) -> None:
        self._speaks = speaks
        self._copy = folder / "metrics.jsonl" if folder and speaks else None
        if self._copy:
            self._copy.parent.mkdir(parents=True, exist_ok=True)

    def __call__(self, *, step: int, **values: Value) -> None:
        """Report one sample, if this rank is the one that speaks."""
        if not self._speaks:
            return
        line = sample(step=step, **values)
        _write(line)
        if self._copy:
            with self._copy.open("a") as copy:
                copy.write(line + "\n")


def _finite(value: Value) -> Value:
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    return value


def _write(line: str) -> None:
    # One write for text and newline: ranks may share this pipe, and print() makes two.
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
