"""Pass the signal of a stop on to a program that was started by a shell."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from engines.base import Manifest

SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})
#: Signals every process of the container, unless its first process handles SIGTERM itself.
#: SIGTERM is number 15, so bit 14 of the mask of handled signals. ``kill -1`` spares the first
#: process and itself.
FORWARD_SCRIPT = (
    "while read -r name mask; do "
    'if [ "$name" = SigCgt: ] && [ $((0x${mask#????????} >> 14 & 1)) = 0 ]; '
    "then kill -TERM -1; fi; "
    "done < /proc/1/status; true"
)


def stop_hook(command: Sequence[str]) -> Manifest:
    """Return the container's ``lifecycle`` if its command is a shell, else nothing.

    Kubernetes signals only the first process, and the kernel drops a SIGTERM that the first process
    does not handle. A shell without a trap does not handle it, so the program that it started would
    never hear of the stop, and could not save before it is killed.
    """
    if not command or PurePosixPath(command[0]).name not in SHELLS:
        return {}
    return {"preStop": {"exec": {"command": [command[0], "-c", FORWARD_SCRIPT]}}}
