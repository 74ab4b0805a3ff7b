"""The programs that are installed on first use: a row for each."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: What ``{app}`` of the image catalog is: name, folder of the installations, domain of the tools
#: and the image's arguments follow.
STARTER = [sys.executable, "-m", "engines.local.apps"]
HERE = Path(__file__).parent


@dataclass(frozen=True)
class LocalApp:
    """``packages`` are pip's requirements; ``program`` and ``arguments`` are started. What the
    image calls its program, the first argument of a workload, is one of ``aliases``. It listens on
    ``port``, as the image does, or on the one in its place; ``variable`` names another."""

    slug: str
    label: str
    packages: tuple[str, ...]
    program: tuple[str, ...]
    port: int
    port_argument: str
    aliases: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    variable: str = ""


#: Trainyard lets in only who may open the tool. The address is this machine's own, and which names
#: lead to it says ``notebook.py``.
JUPYTERLAB = LocalApp(
    slug="jupyterlab",
    label="JupyterLab",
    packages=("jupyterlab>=4.4,<5",),
    program=("jupyter-lab",),
    port=8888,
    port_argument="--ServerApp.port=",
    aliases=("start-notebook.py", "start-notebook.sh"),
    arguments=(
        "--no-browser",
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port_retries=0",
        f"--config={HERE / 'notebook.py'}",
    ),
    variable="JUPYTER_PORT",
)
#: The same of TensorBoard says ``board.py``. Jupyter's TensorFlow image brings it along.
TENSORBOARD = LocalApp(
    slug="tensorboard",
    label="TensorBoard",
    packages=("tensorboard>=2.17,<3",),
    program=("python", "-m", "engines.local.apps.board"),
    port=6006,
    port_argument="--port=",
    aliases=("tensorboard",),
    arguments=("--host=127.0.0.1",),
)
APPS = {it.slug: it for it in (JUPYTERLAB, TENSORBOARD)}


@dataclass(frozen=True)
class Asked:
    """What a command line wants: an app, installed below ``home``, with these arguments."""

    app: LocalApp
    home: Path
    domain: str
    given: tuple[str, ...]

    @property
    def place(self) -> Path:
        return self.home / self.app.slug


def asked(words: Sequence[str]) -> Asked:
    """The app that an image's arguments name first, else that of the image."""
    slug, home, domain, *given = words
    named = next((it for it in APPS.values() if given and given[0] in it.aliases), None)
    return Asked(named or APPS[slug], Path(home), domain, tuple(given[1 if named else 0 :]))


def asked_by(argv: Sequence[str]) -> Asked | None:
    """The same of the whole command line of a rank, which may start no app at all."""
    head = len(STARTER)
    return asked(argv[head:]) if list(argv[:head]) == STARTER else None
