"""``python -m tests``: what ``make test`` runs, part by part. See ``--help``."""

import argparse
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests import browser

HERE = Path(__file__).resolve().parent
NOTHING_COLLECTED = 5  # pytest's exit code
# Tests that need a cluster share it and run one at a time: see tests/kubernetes.py and
# tests/slurm.py.
FAST = ["-n", "2", "-m", "not e2e and not faults and not kubernetes and not slurm"]
# Two files at a time: the tests of a file share a running product, which is slow to start.
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
    """Return one exit code for several parts: the first that is not 0, and negative if a signal
    ended that part.

    A part that collected nothing only counts if all parts did.
    """
    counted = [code for code in codes if code != NOTHING_COLLECTED]
    return next(filter(None, counted), 0) if counted else NOTHING_COLLECTED


def choose(only: str) -> list[str]:
    """Return the arguments for pytest that select everything, a file or folder of tests, or what
    matches words."""
    if not only:
        return []
    path = HERE / only.removeprefix("tests/")
    return [str(path)] if path.exists() else ["-k", only]


def choose_marked(only: str, *marks: str) -> list[str]:
    """Return the same, restricted to files that name one of these marks. Empty if a path contains
    none."""
    files, chosen = marked(*marks), choose(only)
    if len(chosen) == 1:
        return [it for it in files if Path(it).is_relative_to(chosen[0])]
    return [*files, *chosen]


def marked(*marks: str) -> list[str]:
    """Return the test files that name one of these marks.

    With them, pytest need not collect all 13,000 tests for the few of a part, which takes 30
    seconds of a processor in each worker.
    """
    words = [f"mark.{mark}" for mark in marks]
    texts = ((path, path.read_text()) for path in sorted(HERE.rglob("test_*.py")))
    return [str(path) for path, text in texts if any(word in text for word in words)]


def run(arguments: list[str]) -> int:
    """Run pytest in a process of its own, and return its exit code."""
    # The settings are named, because modules imported here may have put the product's into the
    # environment.
    command = [sys.executable, "-m", "pytest", "--ds=tests.settings", *arguments]
    return subprocess.run(command, cwd=HERE.parent, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
