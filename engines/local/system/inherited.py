"""The environment variables that every rank inherits from this machine and this installation."""

import os
import sys
from pathlib import Path

#: The folder from which Trainyard's packages are imported.
ROOT = Path(__file__).resolve().parents[3]
#: Variables that ranks inherit. Everything else, above all Trainyard's secrets, is kept from them.
INHERITED = """HOME USER LOGNAME SHELL LANG LC_ALL LC_CTYPE TZ TMPDIR LD_LIBRARY_PATH""".split()


def base_variables() -> dict[str, str]:
    """Return the variables with which the environment of every rank begins."""
    values = {name: os.environ[name] for name in INHERITED if name in os.environ}
    programs = str(Path(sys.executable).parent)  # ours first: "python" and "torchrun" are found
    values["PATH"] = os.pathsep.join([programs, os.environ.get("PATH", os.defpath)])
    values["PYTHONPATH"] = str(ROOT)
    if sys.prefix != sys.base_prefix:
        values["VIRTUAL_ENV"] = sys.prefix
    return values
