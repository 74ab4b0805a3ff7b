"""The shell in which a rank runs its setup, before its program replaces the shell."""

import shutil
from collections.abc import Sequence
from pathlib import Path

SHELL = "bash"
#: A line fails where ``set -e`` would end a script. If anything ends the shell before the program
#: starts (a failure, a syntax error, an ``exit``), the shell reports it. A failure in a sourced
#: file counts as one of the line that sources it.
STARTER = """
TRAINYARD_SETUP=$1; shift
TRAINYARD_PROGRAM=("$@")
trap 'TRAINYARD_CODE=$? TRAINYARD_LINE=" line $LINENO" TRAINYARD_DEPTH=${#BASH_LINENO[@]}
  case $TRAINYARD_DEPTH in
    0) TRAINYARD_LINE= ;;
    1) ;;
    *) TRAINYARD_LINE=" line ${BASH_LINENO[TRAINYARD_DEPTH - 2]}" ;;
  esac
  exit $TRAINYARD_CODE' ERR
trap 'TRAINYARD_CODE=$?
  echo "Setup${TRAINYARD_LINE-} ended with exit code $TRAINYARD_CODE."\\
       "The program was not started." >&2' EXIT
source "$TRAINYARD_SETUP"
trap - ERR EXIT
exec "${TRAINYARD_PROGRAM[@]}"
"""


def complaint() -> str:
    """Return why a setup cannot run here; empty if it can."""
    return "" if shutil.which(SHELL) else f"this machine has no {SHELL} to run it"


def write_script(path: Path, lines: Sequence[str]) -> Path | None:
    """Write the lines to a file that only its owner can read, and return its path.

    Returns ``None`` if there are no lines.
    """
    if not lines:
        return None
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text("\n".join([*lines, ""]))
    return path


def wrap_command(argv: Sequence[str], setup: Path | None) -> list[str]:
    """Return a command that runs the setup, if there is one, and then ``argv``."""
    if setup is None:
        return list(argv)
    return [shutil.which(SHELL) or SHELL, "-c", STARTER, SHELL, str(setup), *argv]
