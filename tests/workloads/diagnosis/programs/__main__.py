"""Writes the tails of outputs to the corpus: ``FILE``, which ``outputs.py`` has written."""

import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from tests.workloads.diagnosis.programs.program import Program, programs  # noqa: E402
from tests.workloads.diagnosis.tails import PRODUCED, tails  # noqa: E402
from workloads.diagnosis.record import TAIL_BYTES, TAIL_LINES  # noqa: E402
from workloads.logs.text import plain_text  # noqa: E402

ALIKE = 3  # lines kept of each end of many


def main(file: Path) -> None:
    outputs = [json.loads(line) for line in file.read_text().splitlines()]
    lines = {one["title"]: shortened(tail_of(one["text"])) for one in outputs}
    kept = {tail.name: tail for tail in tails() if tail.is_produced}
    files: dict[str, list[str]] = defaultdict(list)
    for one in programs():
        if one.title in lines:
            files[one.file].append(_text(one, lines[one.title]))
        elif one.title in kept:
            files[one.file].append(_text(one, list(kept[one.title].lines)))
    changed = {one.file for one in programs() if one.title in lines}
    for name, texts in ((name, files[name]) for name in changed):
        (PRODUCED / f"{name}.txt").write_text("".join(texts))


def tail_of(output: str) -> list[str]:
    """Return the last lines of an output, as many as the record of a failed rank keeps."""
    data = output.encode()[-TAIL_BYTES:]
    lines = data.decode(errors="replace").rstrip("\n").split("\n")
    return [plain_text(line.encode()).rstrip() for line in lines[-TAIL_LINES:]]


def shortened(lines: Iterable[str]) -> list[str]:
    """The first and the last three of lines in a row that differ in numbers only.

    A kernel prints one for each of its threads."""
    runs = [list(run) for _, run in groupby(lines, key=lambda line: re.sub(r"\d+", "0", line))]
    return [
        line
        for run in runs
        for line in (run if len(run) <= 2 * ALIKE else run[:ALIKE] + run[-ALIKE:])
    ]


def _text(program: Program, lines: list[str]) -> str:
    is_decisive = [any(part in line for part in program.decisive) for line in lines]
    if program.decisive and not any(is_decisive):
        sys.stderr.write(f"no line of {program.title} says why:\n" + "\n".join(lines[-5:]) + "\n")
    marked = [
        f"» {line}" if is_it else line for line, is_it in zip(lines, is_decisive, strict=True)
    ]
    return "\n".join([f"=== {program.title}", *marked, ""])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
