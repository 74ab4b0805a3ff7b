"""Runs the programs and keeps what they print: ``ENVIRONMENT FILE [PART]``.

``ENVIRONMENT`` is a virtual environment with what the programs import (``requirements.txt``).
``FILE`` gets a line of JSON for each program, as soon as it ended. ``PART`` is a part of a
program's file and title, such as ``"network tls"``, and selects programs. Those that need a GPU are
left out where there is none. Needs root, and nothing but Python itself.
"""

import argparse
import json
import sys
import time
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from threading import Lock

from tests.workloads.diagnosis.programs.machine import output_of, prepare
from tests.workloads.diagnosis.programs.program import Program, programs

GPU = Path("/dev/nvidia0")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("environment", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("part", nargs="?", default="")
    parser.add_argument("--at-once", type=int, default=2, help="programs that run side by side")
    parser.add_argument("--within", type=float, default=3600, help="no program starts after, in s")
    parser.add_argument("--without-gpu", action="store_true", help="run all the same")
    asked = parser.parse_args()
    chosen = [
        one
        for one in programs()
        if asked.part in f"{one.file} {one.title}"
        if GPU.exists() or asked.without_gpu or not one.needs_gpu
    ]
    # In no order of theirs: if time ends, no file is left out as a whole.
    chosen.sort(key=lambda one: zlib.crc32(one.title.encode()))
    prepare()
    asked.file.write_text("")
    recorder = Recorder(asked.environment, asked.file, time.monotonic() + asked.within)
    recorder.record([one for one in chosen if one.is_alone], 1)
    recorder.record([one for one in chosen if not one.is_alone], asked.at_once)


class Recorder:
    """Runs programs, and adds what they print to a file."""

    def __init__(self, environment: Path, file: Path, end: float) -> None:
        self.environment = environment
        self.file = file
        self.end = end
        self.lock = Lock()

    def record(self, chosen: Iterable[Program], at_once: int) -> None:
        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(self._one, chosen))

    def _one(self, program: Program) -> None:
        if time.monotonic() > self.end:
            sys.stderr.write(f"no time left for {program.title}\n")
            return
        output = output_of(program, self.environment)
        line = json.dumps({"title": program.title, **asdict(output)})
        with self.lock, self.file.open("a") as file:
            file.write(f"{line}\n")
        sys.stderr.write(f"{output.seconds:5.1f} s, exit {output.code}: {program.title}\n")


if __name__ == "__main__":
    main()
