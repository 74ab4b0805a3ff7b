"""Programs that images bring, installed on this machine the first time that one is asked for.

``python -m engines.local.apps jupyterlab FOLDER DOMAIN start-notebook.py …`` is what the image of a
notebook server is here: the command of that image and its arguments stay, the installation below
``FOLDER`` is shared by all workloads, and tools are served below ``DOMAIN``. It stands apart from
Trainyard's own packages, but sees them: a notebook imports the torch that trains here.
"""

import fcntl
import os
import shlex
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

READY = ".ready"  # in an installation that is whole
OURS = "trainyard.pth"
UNREACHABLE = 69  # EX_UNAVAILABLE of sysexits.h


@dataclass(frozen=True)
class LocalApp:
    """``packages`` are pip's requirements; ``program`` and ``arguments`` are started. What the
    image calls its program, the first argument of a workload, is one of ``aliases``."""

    label: str
    packages: tuple[str, ...]
    program: str
    arguments: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


#: Trainyard lets in only who may open the tool. The address is this machine's own, and which names
#: lead to it says ``notebook.py``.
JUPYTERLAB = LocalApp(
    "JupyterLab",
    ("jupyterlab>=4.4,<5",),
    "jupyter-lab",
    (
        "--no-browser",
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port_retries=0",
        f"--config={Path(__file__).parent / 'notebook.py'}",
    ),
    ("start-notebook.py", "start-notebook.sh"),
)
APPS = {"jupyterlab": JUPYTERLAB}


def say(text: str) -> None:
    """To the workload's log."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(argv: Sequence[str]) -> int:
    name, folder, os.environ["TOOLS_DOMAIN"], *given = argv
    app = APPS[name]
    place = Path(folder) / name
    if given and given[0] in app.aliases:
        given = given[1:]
    port = f"--ServerApp.port={os.environ.get('JUPYTER_PORT', '8888')}"
    program = str(place / "bin" / app.program)
    if install(app, place):
        os.execv(program, [program, *app.arguments, port, *given])  # noqa: S606 -- no shell
    return UNREACHABLE


def install(app: LocalApp, place: Path) -> bool:
    """Once for all, however many ask at a time; says how far it is, and how to help it along."""
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (place / READY).exists():
            return True
        say(f"Installing {app.label}: the first time on this machine, it takes a minute or two.")
        venv.create(place, with_pip=True)
        _see_ours(place)
        pip = [str(place / "bin" / "pip"), "install", "--progress-bar", "off", *app.packages]
        if subprocess.run(pip, stdin=subprocess.DEVNULL, check=False).returncode:
            by_hand = f"{shlex.join(pip)} && touch {shlex.quote(str(place / READY))}"
            say(
                f"{app.label} could not be installed, see above. If this machine does not reach "
                f"PyPI, make a package index known to pip, or run this where one is reached: "
                f"{by_hand}\nThen run the workspace again."
            )
            return False
        (place / READY).touch()
        say(f"{app.label} is installed.")
        return True


def _see_ours(place: Path) -> None:
    """What both have is taken from the installation itself."""
    own = sysconfig.get_path("purelib", vars={"base": str(place), "platbase": str(place)})
    (Path(own) / OURS).write_text(sysconfig.get_path("purelib") + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
