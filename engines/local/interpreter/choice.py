"""Which Python ranks run as ``python``."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from engines.local.system.inherited import OWN_PYTHON, ROOT

LOCK = ROOT / "requirements-trainer.txt"
#: The packages that the trainer imports; they bring the rest.
PACKAGES = ("numpy", "scikit-learn", "torch")
PINNED = re.compile(rf"^(?:{'|'.join(PACKAGES)})==\S+", re.MULTILINE)


class Origin(StrEnum):
    """Where the Python comes from."""

    OWN = "own"  # it runs Trainyard, and torch is installed there
    CHOSEN = "chosen"  # by an administrator
    INSTALLED = "installed"  # by Trainyard, in the background


class Build(StrEnum):
    """The build of torch that is installed."""

    AUTO = "auto"  # for CUDA where there is an NVIDIA GPU; else for the CPU, if that is to be had
    CPU = "cpu"
    CUDA = "cuda"


@dataclass(frozen=True)
class Interpreter:
    """The Python of the ranks.

    ``home`` is the folder for its installation and what is known about it. ``wheels`` is a folder
    of packages to install in place of those of an index.
    """

    origin: Origin
    python: Path
    home: Path
    build: Build = Build.AUTO
    wheels: Path | None = None

    @property
    def programs(self) -> Path:
        """The folder with ``python``, ``torchrun`` and the like."""
        return self.python.parent

    @property
    def environment(self) -> Path:
        return self.programs.parent

    @property
    def record(self) -> Path:
        return self.home / "preparation.json"

    @property
    def lock(self) -> Path:
        return self.home / "lock"

    @property
    def log(self) -> Path:
        """The output of the preparation, pip's among it."""
        return self.home / "log"

    @property
    def downloads(self) -> Path:
        return self.home / "downloads"


def choose_interpreter(
    home: Path, *, chosen: Path | None = None, build: Build = Build.AUTO, wheels: Path | None = None
) -> Interpreter:
    """Return the Python that an administrator has ``chosen``; else Trainyard's own, if torch is
    installed there; else one that Trainyard installs below ``home``."""
    if chosen:
        return Interpreter(Origin.CHOSEN, chosen, home)
    if find_spec("torch") is not None:
        return own_interpreter(home)
    # Other versions get another environment, because running ranks still read the old one.
    digest = hashlib.sha256("\n".join(requirements()).encode()).hexdigest()[:12]
    python = home / f"python-{digest}" / "bin" / "python"
    return Interpreter(Origin.INSTALLED, python, home, build, wheels)


def own_interpreter(home: Path) -> Interpreter:
    """Return the Python that runs Trainyard."""
    return Interpreter(Origin.OWN, OWN_PYTHON, home)


def requirements() -> Sequence[str]:
    """Return the packages to install, each with its locked version."""
    return sorted(PINNED.findall(LOCK.read_text()))
