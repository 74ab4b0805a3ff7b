"""``python -m tests.slurm``: what ``make test-slurm`` runs; see docs/slurm.md.

The cluster is the one that ``SLURM_TESTBED`` starts, unless one runs already, which is then left
running. One test at a time, for they share it.
"""

import os
import subprocess
import sys
from pathlib import Path

from config.run.install import ROOT
from tests import browser, slurm_testbed
from tests.__main__ import choose, marked, run
from tests.slurm_testbed import TOOL, Testbed, as_root, machines

ARGUMENTS = ["-m", "slurm"]
#: All of them are in these: to collect every test takes longer than many of them.
PLACES = ["tests/engines/slurm", "tests/e2e/test_slurm.py"]
#: Another release of Debian than this machine's, whose Slurm then runs beside the usual one.
SUITE = os.environ.get("SLURM_SUITE", "")
BESIDE = "6837"
#: What some tests need on the nodes; those of another release have nothing of this machine's.
EQUIPMENT = {"git": "git", "openmpi-bin": "mpirun"}
HOW = f"""\
There is no Slurm to test on, so nothing was tested: {TOOL} does not exist.
SLURM_TESTBED names a program that starts one. See docs/slurm.md."""


def main() -> int:
    if SUITE:
        os.environ.setdefault("SLURM_TESTBED_PORT", BESIDE)
    chosen = choose(sys.argv[1] if len(sys.argv) > 1 else "") or marked("slurm")
    if not TOOL.exists():
        print(HOW, file=sys.stderr)
        return 0
    was_up = Testbed.running() is not None
    if not was_up and (trouble := start()):
        print(f"\n==== THE TESTS ON SLURM DID NOT RUN: {trouble}\n", file=sys.stderr)
        return 0
    try:
        places = PLACES if not chosen or "-k" in chosen else []
        return browser.main() or run([*ARGUMENTS, *places, *chosen])
    finally:
        if not was_up:
            slurm_testbed.run("down", "--wipe", check=False)


def start() -> str:
    """With what ranks need of this machine: the interpreter of this environment. Why it did not
    start, which is the machine's fault and no change's; empty where it did."""
    shares = [word for path in hidden(SUITE) for word in ("--share", str(path))]
    suite = ["--suite", SUITE] if SUITE else []
    for words in (["install", *suite], ["up", *suite, *shares]):
        done = slurm_testbed.run(*words, check=False)
        if done.returncode:
            return f"`slurm {words[0]}` failed: {done.stderr.strip()[-500:]}"
    if SUITE:
        equip()
    return ""


def equip() -> None:
    """Once for a release; what cannot be had is told, and its tests are skipped."""
    login = machines()["login"]
    lacking = [
        package
        for package, program in EQUIPMENT.items()
        if not as_root(login, "sh", "-c", f"command -v {program} || true")
    ]
    if not lacking:
        return
    getting = (
        f"apt-get -q update && apt-get -q install -y --no-install-recommends {' '.join(lacking)}"
    )
    try:
        as_root(login, "env", "DEBIAN_FRONTEND=noninteractive", "sh", "-c", getting)
    except subprocess.CalledProcessError as error:
        print(f"{' '.join(lacking)} cannot be installed: {error.stderr[-500:]}", file=sys.stderr)


def hidden(suite: str) -> list[Path]:
    """Folders that jobs could not enter: those of another release have a root of their own, and
    here one above them may be closed to others."""
    needed = {Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), ROOT}
    closed = (it for it in needed if any(not up.stat().st_mode & 1 for up in it.parents))
    return sorted(needed if suite else closed)


if __name__ == "__main__":
    sys.exit(main())
