"""The environment variables that every rank inherits from this machine and this installation."""

import os
import sys
from pathlib import Path

#: The folder from which Trainyard's packages are imported.
ROOT = Path(__file__).resolve().parents[3]
#: The Python that runs Trainyard.
OWN_PYTHON = Path(sys.executable)
#: Variables that ranks inherit. Everything else, above all Trainyard's secrets, is kept from them.
INHERITED = """HOME USER LOGNAME SHELL LANG LC_ALL LC_CTYPE TZ TMPDIR LD_LIBRARY_PATH""".split()


def base_variables(python: Path = OWN_PYTHON) -> dict[str, str]:
    """Return the variables with which the environment of every rank begins. ``python`` is what the
    rank finds by that name, with the programs next to it, such as ``torchrun``."""
    values = {name: os.environ[name] for name in INHERITED if name in os.environ}
    values["PATH"] = os.pathsep.join([str(python.parent), os.environ.get("PATH", os.defpath)])
    values["PYTHONPATH"] = str(ROOT)
    environment = python.parent.parent
    if (environment / "pyvenv.cfg").exists():
        values["VIRTUAL_ENV"] = str(environment)
    return values
