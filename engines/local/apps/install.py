"""``python -m engines.local.apps.install jupyterlab FOLDER``: install an app into its own
environment."""

import fcntl
import os
import shlex
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from engines.local.apps.catalog import APPS, LocalApp

READY = ".ready"  # a file in complete installations
PATH_FILE = "trainyard.pth"
UNREACHABLE = 69  # EX_UNAVAILABLE of sysexits.h
BUSY = "Another workload is installing it."


def main(argv: Sequence[str]) -> int:
    slug, folder = argv
    return 0 if install(APPS[slug], Path(folder)) else UNREACHABLE


def install(app: LocalApp, folder: Path) -> bool:
    """Install an app once, even if several processes try at the same time.

    Remains of a failed or interrupted try are removed first. Prints its progress, and advice if it
    fails. Returns whether the app is installed.
    """
    if is_installed(folder):
        return True
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        _wait_for_lock(lock.fileno())
        if is_installed(folder):  # by the process that held the lock before
            return True
        _print(f"Installing {app.label}: the first time on this machine, it takes a minute or two.")
        pip = [*_create_environment(folder), "install", "--progress-bar", "off", *app.packages]
        process = subprocess.run(
            pip, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, check=False
        )
        if process.returncode:
            by_hand = f"{shlex.join(pip)} && touch {shlex.quote(str(folder / READY))}"
            _print(
                f"{app.label} could not be installed, see above. If this machine does not reach "
                f"PyPI, make a package index known to pip, or run this where one is reached: "
                f"{by_hand}\nThen run the workload again."
            )
            return False
        (folder / READY).touch()  # last: a folder without it is incomplete
        _print(f"{app.label} is installed.")
        return True


def is_installed(folder: Path) -> bool:
    return (folder / READY).exists()


def _create_environment(folder: Path) -> list[str]:
    """Create an environment, and return the command of a pip that installs into it: Trainyard's own
    pip if there is one."""
    is_ours = find_spec("pip") is not None
    venv.create(folder, with_pip=not is_ours, clear=True)
    _share_own_packages(folder)
    python = str(folder / "bin" / "python")
    return [sys.executable, "-m", "pip", "--python", python] if is_ours else [python, "-m", "pip"]


def _wait_for_lock(lock: int) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _print(BUSY)
        fcntl.flock(lock, fcntl.LOCK_EX)


def _print(text: str) -> None:
    """Print to the workload's log."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _share_own_packages(folder: Path) -> None:
    """Let the environment import the packages of the ranks' Python, if that is of the same version,
    and Trainyard's. Its own packages come first."""
    places = [
        _packages_of(os.environ.get("VIRTUAL_ENV", sys.prefix)),
        sysconfig.get_path("purelib"),
    ]
    text = "".join(f"{place}\n" for place in dict.fromkeys(places))
    Path(_packages_of(str(folder)), PATH_FILE).write_text(text)


def _packages_of(environment: str) -> str:
    """Return where an environment of this version of Python has its packages."""
    return sysconfig.get_path("purelib", vars={"base": environment, "platbase": environment})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
