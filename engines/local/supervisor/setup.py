"""The shell in which a rank runs its setup, which is then replaced by its program.

The lines are in a file, because everyone on a machine can read command lines.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

SHELL = "bash"
#: A line fails where ``set -e`` would end a script. Whatever ends the shell before the program
#: starts (a failure, a syntax error, an ``exit``) says so. A failure in a file that a line sources
#: is that line's.
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
    """Why a setup cannot run here; empty if it can."""
    return "" if shutil.which(SHELL) else f"this machine has no {SHELL} to run it"


def write(path: Path, lines: Sequence[str]) -> Path | None:
    """Write the lines into a file that only the owner can read; ``None`` without lines."""
    if not lines:
        return None
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text("\n".join([*lines, ""]))
    return path


def before(argv: Sequence[str], setup: Path | None) -> list[str]:
    """The command that runs the setup first."""
    shell = [shutil.which(SHELL) or SHELL, "-c", STARTER, SHELL, str(setup)] if setup else []
    return [*shell, *argv]
