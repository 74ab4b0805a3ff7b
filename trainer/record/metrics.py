"""What a training prints to stdout: samples of metrics for Trainyard, and lines for people."""

import json
import math
import sys
from pathlib import Path
from typing import TypeAlias

Value: TypeAlias = float | int | str | None


def report(*, step: float, **values: Value) -> None:
    """Print one sample: a JSON object on a line of its own, with the number ``step``.

    Trainyard draws every other number in it as a curve. A number that is not finite becomes null,
    because JSON cannot hold it. Raises ``TypeError`` if ``step`` is not a number.
    """
    _write(sample(step=step, **values))


def sample(*, step: float, **values: Value) -> str:
    """Return the line that ``report`` prints."""
    if isinstance(step, bool) or not isinstance(step, int | float):
        raise TypeError(f"step must be a number, not {type(step).__name__}")
    return json.dumps(
        {"step": step} | {name: _round_finite(value) for name, value in values.items()}
    )


def say(text: str) -> None:
    """Print one line for people to read."""
    _write(text)


class Reporter:
    """Reports samples for rank 0, and copies them to ``metrics.jsonl`` in ``folder`` if there is
    one.

    On the other ranks, where ``speaks`` is false, it does nothing, so the loop need not ask.
    """

    def __init__(self, folder: Path | None, *, speaks: bool) -> None:
        self._speaks = speaks
        self._copy = folder / "metrics.jsonl" if folder and speaks else None
        if self._copy:
            self._copy.parent.mkdir(parents=True, exist_ok=True)

    def __call__(self, *, step: int, **values: Value) -> None:
        """Report one sample as ``report`` does, if this rank speaks."""
        if not self._speaks:
            return
        line = sample(step=step, **values)
        _write(line)
        if self._copy:
            with self._copy.open("a") as copy:
                copy.write(line + "\n")


def _round_finite(value: Value) -> Value:
    """Round a float to six decimals; ``None`` if it is not finite."""
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    return value


def _write(line: str) -> None:
    # Text and newline go out in one write, because ranks may share this pipe; print() makes two.
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
