"""``python -m tests.slurm``: what ``make test-slurm`` runs; see docs/slurm.md.

The cluster is the one that ``SLURM_TESTBED`` starts. One that runs already is used and left
running. Its tests run one at a time, because they share it. Those in a browser, and a few more, run
at the same time on a second cluster, because both parts mostly wait.
"""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

from config.run.install import ROOT
from tests import browser, slurm_testbed
from tests.__main__ import choose
from tests.beside import side_by_side
from tests.parts import run_pytest
from tests.slurm_testbed import TOOL, Testbed, as_root, machines

ARGUMENTS = ["-m", "slurm"]
#: All tests on Slurm are in these. Collecting every test would take longer than many of them.
ENGINE = "tests/engines/slurm"
CORPUS = "tests/engines/corpus"
BROWSER = "tests/e2e/test_slurm.py"
#: Tests of the engine that run with the browser's: they need no database and no equipment.
WITH_BROWSER = tuple(f"{ENGINE}/test_{name}.py" for name in ("contract", "trial", "containers"))
SECOND = "--second"
# names a cluster; the second one's port is 40 higher
PORT = "SLURM_TESTBED_PORT"
APART = 40
#: Another release of Debian than this machine's. Its Slurm runs next to the usual one, at another
#: port.
SUITE = os.environ.get("SLURM_SUITE", "")
USUAL = "6817"
BESIDE = "6837"
#: What some tests need on the nodes. Those of another release share nothing of this machine.
EQUIPMENT = {
    "git": "command -v git",
    "openmpi-bin": "command -v mpirun",
    "libmpich12": "ldconfig -p | grep libmpich.so.12",
}
HOW = f"""\
There is no Slurm to test on, so nothing was tested: {TOOL} does not exist.
SLURM_TESTBED names a program that starts one. See docs/slurm.md."""
DID_NOT_RUN = "\n==== THE TESTS ON SLURM DID NOT RUN: {}\n"


def main() -> int:
    os.environ.setdefault(PORT, BESIDE if SUITE else USUAL)
    if not TOOL.exists():
        print(HOW, file=sys.stderr)
        return 0
    if trouble := started("install"):
        print(DID_NOT_RUN.format(trouble), file=sys.stderr)
        return 0
    if sys.argv[1:] == [SECOND]:
        return on_a_cluster([BROWSER, CORPUS, *WITH_BROWSER])
    if len(sys.argv) > 1:
        return on_a_cluster(choose(sys.argv[1]), is_equipped=True)
    second = str(int(os.environ[PORT]) + APART)
    rest = [ENGINE, *(f"--ignore={path}" for path in WITH_BROWSER)]
    first = partial(on_a_cluster, rest, is_equipped=True)
    return side_by_side(first, "tests.slurm", SECOND, **{PORT: second})


def on_a_cluster(chosen: list[str], *, is_equipped: bool = False) -> int:
    """Run the chosen tests on the cluster of ``PORT``, which is started for them unless it runs."""
    was_up = Testbed.running() is not None
    if not was_up and (trouble := start()):
        print(DID_NOT_RUN.format(trouble), file=sys.stderr)
        return 0
    try:
        if SUITE and is_equipped:
            equip()
        places = [ENGINE, CORPUS, BROWSER] if "-k" in chosen else []
        return browser.main() or run_pytest(*ARGUMENTS, *places, *chosen)
    finally:
        if not was_up:
            slurm_testbed.run("down", "--wipe", check=False)


def start() -> str:
    """Start the cluster, sharing with its nodes the interpreter that ranks need.

    Returns why it did not start, which is a fault of the machine and of no change; empty if it did.
    """
    shares = [word for path in hidden(SUITE) for word in ("--share", str(path))]
    return started("install") or started("up", *shares)


def started(verb: str, *words: str) -> str:
    """Run a verb of the testbed. Returns why it failed; empty if it did not."""
    suite = ["--suite", SUITE] if SUITE else []
    done = slurm_testbed.run(verb, *suite, *words, check=False)
    return f"`slurm {verb}` failed: {done.stderr.strip()[-500:]}" if done.returncode else ""


def equip() -> None:
    """Install the equipment that is missing. If that fails, this is printed, and tests that need it
    are skipped."""
    login = machines()["login"]
    lacking = [
        package
        for package, look in EQUIPMENT.items()
        if not as_root(login, "sh", "-c", f"{look} || true")
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
    """Return the folders that jobs need and could not enter.

    Nodes of another release have a root of their own, so they lack all of them; here, a folder
    above may be closed to others.
    """
    needed = {Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), ROOT}
    closed = (it for it in needed if any(not up.stat().st_mode & 1 for up in it.parents))
    return sorted(needed if suite else closed)


if __name__ == "__main__":
    # If this process is terminated, the cluster is stopped, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
