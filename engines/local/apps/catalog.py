"""The table of programs and frameworks that are installed on first use."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: The command behind ``{app}``; followed by the app's name, the folder of installations, the domain
#: of tools and the image's arguments.
STARTER = [sys.executable, "-m", "engines.local.apps"]
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Listening:
    """How an app that is a tool gets its port: ``port`` is the image's, or that which replaces it.
    ``variable`` or ``argument`` tells the program."""

    port: int
    argument: str
    variable: str = ""


@dataclass(frozen=True)
class LocalApp:
    """An app. ``packages`` are pip requirements; ``program`` is started with ``arguments``.
    ``aliases`` are the image's names of the program, which may be a workload's first argument."""

    slug: str
    label: str
    packages: tuple[str, ...]
    program: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    listening: Listening | None = None


#: Trainyard checks who may open the tool. The address is this machine's own; ``notebook.py`` says
#: which host names may be used.
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
#: For TensorBoard ``board.py`` does that. It is part of Jupyter's TensorFlow image.
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
#: The build without GPU support, if there is one, is a tenth of the size.
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
#: Only the Python bindings; Open MPI is this machine's.
MPI4PY = LocalApp(
    slug="mpi4py",
    label="mpi4py",
    packages=("mpi4py>=4.1,<5",),
    program=(*EXAMPLES, "mpi"),
)
APPS = {it.slug: it for it in (JUPYTERLAB, TENSORBOARD, TENSORFLOW, XGBOOST, JAX, MPI4PY)}


@dataclass(frozen=True)
class Asked:
    """A command line that wants an app, installed below ``home``, with arguments."""

    app: LocalApp
    home: Path
    domain: str
    given: tuple[str, ...]

    @property
    def place(self) -> Path:
        return self.home / self.app.slug


def asked(words: Sequence[str]) -> Asked:
    """The app that the image's arguments name first, or the image's default."""
    slug, home, domain, *given = words
    named = next((it for it in APPS.values() if given and given[0] in it.aliases), None)
    return Asked(named or APPS[slug], Path(home), domain, tuple(given[1 if named else 0 :]))


def asked_by(argv: Sequence[str]) -> Asked | None:
    """The app in a rank's whole command line, which may be started by a launcher; ``None`` if it
    has none."""
    size = len(STARTER)
    begins = (at for at in range(len(argv)) if list(argv[at : at + size]) == STARTER)
    begin = next(begins, None)
    return None if begin is None else asked(argv[begin + size :])
