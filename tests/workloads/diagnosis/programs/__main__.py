"""Runs the programs and writes their tails to the corpus: ``ENVIRONMENT [PART]``.

``ENVIRONMENT`` is a virtual environment with what the programs import (``requirements.txt``).
``PART`` is a part of a program's file and title, such as ``"network tls"``, and selects programs.
"""

import os
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from tests.workloads.diagnosis.programs.machine import prepare, tail_of  # noqa: E402
from tests.workloads.diagnosis.programs.program import Program, programs  # noqa: E402
from tests.workloads.diagnosis.tails import PRODUCED, tails  # noqa: E402


def main(environment: Path, part: str = "") -> None:
    prepare()
    every = list(programs())
    kept = {tail.name: tail for tail in tails() if tail.is_produced}
    asked = [one for one in every if part in f"{one.file} {one.title}"]
    with ThreadPoolExecutor(2) as pool:
        lines = dict(
            zip(
                [one.title for one in asked],
                pool.map(lambda one: tail_of(one, environment), asked),
                strict=True,
            )
        )
    files: dict[str, list[str]] = defaultdict(list)
    for one in every:
        if one.title in lines:
            files[one.file].append(_text(one, lines[one.title]))
        elif one.title in kept:
            files[one.file].append(_text(one, list(kept[one.title].lines)))
    for name, texts in files.items():
        (PRODUCED / f"{name}.txt").write_text("".join(texts))


def _text(program: Program, lines: list[str]) -> str:
    is_decisive = [any(part in line for part in program.decisive) for line in lines]
    if program.decisive and not any(is_decisive):
        sys.stderr.write(f"no line of {program.title} says why:\n" + "\n".join(lines[-5:]) + "\n")
    marked = [
        f"» {line}" if is_it else line for line, is_it in zip(lines, is_decisive, strict=True)
    ]
    return "\n".join([f"=== {program.title}", *marked, ""])


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
