"""``python -m engines.local.apps.install jupyterlab FOLDER``: install an app into its own
environment."""

import fcntl
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
OURS = "trainyard.pth"
UNREACHABLE = 69  # EX_UNAVAILABLE of sysexits.h
BUSY = "Another workload is installing it."


def main(argv: Sequence[str]) -> int:
    slug, place = argv
    return 0 if install(APPS[slug], Path(place)) else UNREACHABLE


def install(app: LocalApp, place: Path) -> bool:
    """Install an app once, even if several ask at the same time. Prints its progress, and advice on
    errors.

    Remains of a failed or interrupted try are removed first.
    """
    if is_installed(place):
        return True
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("w") as lock:
        _wait_for(lock.fileno())
        if is_installed(place):
            return True
        _say(f"Installing {app.label}: the first time on this machine, it takes a minute or two.")
        pip = [*_pip(place), "install", "--progress-bar", "off", *app.packages]
        if subprocess.run(
            pip, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, check=False
        ).returncode:
            by_hand = f"{shlex.join(pip)} && touch {shlex.quote(str(place / READY))}"
            _say(
                f"{app.label} could not be installed, see above. If this machine does not reach "
                f"PyPI, make a package index known to pip, or run this where one is reached: "
                f"{by_hand}\nThen run the workload again."
            )
            return False
        (place / READY).touch()
        _say(f"{app.label} is installed.")
        return True


def is_installed(place: Path) -> bool:
    return (place / READY).exists()


def _pip(place: Path) -> list[str]:
    """Create an environment; returns the command of a pip that installs into it, our own if there
    is one."""
    is_ours = find_spec("pip") is not None
    venv.create(place, with_pip=not is_ours, clear=True)
    _see_ours(place)
    python = str(place / "bin" / "python")
    return [sys.executable, "-m", "pip", "--python", python] if is_ours else [python, "-m", "pip"]


def _wait_for(lock: int) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _say(BUSY)
        fcntl.flock(lock, fcntl.LOCK_EX)


def _say(text: str) -> None:
    """Print to the workload's log."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _see_ours(place: Path) -> None:
    """Let the environment import Trainyard's packages; its own take precedence."""
    own = sysconfig.get_path("purelib", vars={"base": str(place), "platbase": str(place)})
    (Path(own) / OURS).write_text(sysconfig.get_path("purelib") + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
