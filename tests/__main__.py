"""``python -m tests``: what ``make test`` runs, part by part. See ``--help``."""

import argparse
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests import browser

HERE = Path(__file__).resolve().parent
NOTHING_COLLECTED = 5  # pytest's exit code
# Those that need a cluster share it, so they do not run two at a time: see tests/kubernetes.py and
# tests/slurm.py.
FAST = ["-n", "2", "-m", "not e2e and not faults and not kubernetes and not slurm"]
# Two files at a time: the tests of one file share a running product, which is slow to start.
WHOLE = ["-n", "2", "--dist", "loadfile", "-m", "(e2e or faults) and not kubernetes and not slurm"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="a path below tests/, or words for -k")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--fast", action="store_true", help="no browser, nothing is killed")
    part.add_argument("--slow", action="store_true", help="only what --fast leaves out")
    options = parser.parse_args()
    codes = []
    if not options.slow:
        codes.append(run([*FAST, *choose(options.only)]))
    if not options.fast and (whole := choose_marked(options.only, "e2e", "faults")):
        if code := browser.main():
            return code
        codes.append(run([*WHOLE, *whole]))
    return of_all(codes)


def of_all(codes: Iterable[int]) -> int:
    """The exit code of parts together: that of the first that failed, which is below 0 where a
    signal ended it. Parts in which nothing was collected count only where all are."""
    counted = [code for code in codes if code != NOTHING_COLLECTED]
    return next(filter(None, counted), 0) if counted else NOTHING_COLLECTED


def choose(only: str) -> list[str]:
    """Arguments for pytest: everything, a file or folder of tests, or what matches the words."""
    if not only:
        return []
    path = HERE / only.removeprefix("tests/")
    return [str(path)] if path.exists() else ["-k", only]


def choose_marked(only: str, *marks: str) -> list[str]:
    """The same of files that name one of these marks; empty where none is below the path."""
    files, chosen = marked(*marks), choose(only)
    if len(chosen) == 1:
        return [it for it in files if Path(it).is_relative_to(chosen[0])]
    return [*files, *chosen]


def marked(*marks: str) -> list[str]:
    """The files of tests that name one of these marks: to collect all 13,000 tests for the few of
    a part takes 30 seconds of a processor, and each worker does it."""
    words = [f"mark.{mark}" for mark in marks]
    texts = ((path, path.read_text()) for path in sorted(HERE.rglob("test_*.py")))
    return [str(path) for path, text in texts if any(word in text for word in words)]


def run(arguments: list[str]) -> int:
    # By name, for what was imported here may have set those of the product in the environment.
    command = [sys.executable, "-m", "pytest", "--ds=tests.settings", *arguments]
    return subprocess.run(command, cwd=HERE.parent, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
