"""The table of programs and frameworks that are installed on first use."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: The command behind ``{app}``; followed by the app's name, the folder of installations, the domain
#: of tools and the image's arguments.
STARTER = [sys.executable, "-m", "engines.local.apps"]
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class ToolPort:
    """How an app that is a tool gets its port.

    ``port`` is the port in the image, for which another one may be assigned. The program gets it by
    ``argument``; a user may choose another by ``variable``.
    """

    port: int
    argument: str
    variable: str = ""


@dataclass(frozen=True)
class LocalApp:
    """An app. ``packages`` are pip requirements; ``program`` is started with ``arguments``.

    ``aliases`` are the names that the image has for the program. A workload's first argument may be
    one of them.
    """

    slug: str
    label: str
    packages: tuple[str, ...]
    program: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    tool_port: ToolPort | None = None


#: Trainyard checks who may open the tool. It listens only on this machine's loopback address, and
#: ``notebook.py`` restricts the host names of requests.
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
        f"--config={FOLDER / 'notebook.py'}",
    ),
    aliases=("start-notebook.py", "start-notebook.sh"),
    tool_port=ToolPort(8888, "--ServerApp.port=", variable="JUPYTER_PORT"),
)
#: For TensorBoard, ``board.py`` restricts the host names. Jupyter's TensorFlow image contains it.
TENSORBOARD = LocalApp(
    slug="tensorboard",
    label="TensorBoard",
    packages=("tensorboard>=2.17,<3",),
    program=("python", "-m", "engines.local.apps.board"),
    arguments=("--host=127.0.0.1",),
    aliases=("tensorboard",),
    tool_port=ToolPort(6006, "--port="),
)
EXAMPLES = ("python", "-m", "trainer.examples")
#: The build without GPU support, if there is one, is a tenth of the size.
SLIM = 'sys_platform == "linux" and platform_machine == "x86_64"'
ELSE = 'sys_platform != "linux" or platform_machine != "x86_64"'
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
class AppCommand:
    """A command line that starts an app, which is installed below ``home``."""

    app: LocalApp
    home: Path
    domain: str
    arguments: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return self.home / self.app.slug


def parse_command(words: Sequence[str]) -> AppCommand:
    """Parse the words after ``{app}``. The app is the one whose alias is the first argument, or the
    image's default."""
    slug, home, domain, *arguments = words
    for app in APPS.values():
        if arguments and arguments[0] in app.aliases:
            return AppCommand(app, Path(home), domain, tuple(arguments[1:]))
    return AppCommand(APPS[slug], Path(home), domain, tuple(arguments))


def find_app(argv: Sequence[str]) -> AppCommand | None:
    """Return the app in a rank's command line, in which a launcher may come first; ``None`` if it
    has none."""
    size = len(STARTER)
    for begin in range(len(argv)):
        if list(argv[begin : begin + size]) == STARTER:
            return parse_command(argv[begin + size :])
    return None
