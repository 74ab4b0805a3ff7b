"""The programs and frameworks that are installed on first use: a row for each."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: What ``{app}`` of the image catalog is: name, folder of the installations, domain of the tools
#: and the image's arguments follow.
STARTER = [sys.executable, "-m", "engines.local.apps"]
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Listening:
    """Where an app listens that is a tool: on ``port``, as the image does, or on the one in its
    place. ``variable`` names another, ``argument`` tells the program."""

    port: int
    argument: str
    variable: str = ""


@dataclass(frozen=True)
class LocalApp:
    """``packages`` are pip's requirements; ``program`` and ``arguments`` are started. What the
    image calls its program, the first argument of a workload, is one of ``aliases``."""

    slug: str
    label: str
    packages: tuple[str, ...]
    program: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    listening: Listening | None = None


#: Trainyard lets in only who may open the tool. The address is this machine's own, and which names
#: lead to it says ``notebook.py``.
JUPYTERLAB = LocalApp(
    slug="jupyterlab",
    label="JupyterLab",
    packages=("jupyterlab>=4.4,<5",),
    program=("jupyter-lab",),
    arguments=(
        "--no-browser",
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port_retries=0",
        f"--config={HERE / 'notebook.py'}",
    ),
    aliases=("start-notebook.py", "start-notebook.sh"),
    listening=Listening(8888, "--ServerApp.port=", variable="JUPYTER_PORT"),
)
#: The same of TensorBoard says ``board.py``. Jupyter's TensorFlow image brings it along.
TENSORBOARD = LocalApp(
    slug="tensorboard",
    label="TensorBoard",
    packages=("tensorboard>=2.17,<3",),
    program=("python", "-m", "engines.local.apps.board"),
    arguments=("--host=127.0.0.1",),
    aliases=("tensorboard",),
    listening=Listening(6006, "--port="),
)
EXAMPLES = ("python", "-m", "trainer.examples")
#: Where there is a build without what only GPUs need, it is a tenth of the size.
SLIM = "sys_platform == 'linux' and platform_machine == 'x86_64'"
ELSE = "sys_platform != 'linux' or platform_machine != 'x86_64'"
TENSORFLOW = LocalApp(
    slug="tensorflow",
    label="TensorFlow",
    packages=(f"tensorflow-cpu>=2.17,<3; {SLIM}", f"tensorflow>=2.17,<3; {ELSE}"),
    program=(*EXAMPLES, "tensorflow"),
)
XGBOOST = LocalApp(
    slug="xgboost",
    label="XGBoost",
    packages=(f"xgboost-cpu>=3,<4; {SLIM}", f"xgboost>=3,<4; {ELSE}"),
    program=(*EXAMPLES, "xgboost"),
)
JAX = LocalApp(
    slug="jax",
    label="JAX",
    packages=("jax>=0.6,<1",),
    program=(*EXAMPLES, "jax"),
)
#: Only its bindings for Python: Open MPI is this machine's own.
MPI4PY = LocalApp(
    slug="mpi4py",
    label="mpi4py",
    packages=("mpi4py>=4.1,<5",),
    program=(*EXAMPLES, "mpi"),
)
APPS = {it.slug: it for it in (JUPYTERLAB, TENSORBOARD, TENSORFLOW, XGBOOST, JAX, MPI4PY)}


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
    """The same of the whole command line of a rank, which may start no app at all, or have one
    started by a launcher."""
    size = len(STARTER)
    begins = (at for at in range(len(argv)) if list(argv[at : at + size]) == STARTER)
    begin = next(begins, None)
    return None if begin is None else asked(argv[begin + size :])
