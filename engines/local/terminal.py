"""Run a program with a terminal next to a rank: in the rank's folder, with its variables, as the
same user."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from engines.shared.terminal import PtySession

# A program that prepares the new session and then becomes the requested program. It makes the
# terminal the session's, which only the session's leader can do, enters the rank's mounts, and
# takes the workload's mark, which the server's own threads must not have.
LEADER = """
import contextlib, fcntl, os, resource, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
mark, rank, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
spaces = [os.open(f"/proc/{rank}/ns/{name}", os.O_RDONLY) for name in sys.argv[4].split()]
for space in spaces:
    import ctypes
    if ctypes.CDLL(None).setns(space, 0):
        sys.exit("The mounts of the rank cannot be joined.")
    os.close(space)
os.chdir(folder)
with contextlib.suppress(OSError, ValueError):
    resource.setrlimit(10, (mark, mark))
os.execvp(sys.argv[5], sys.argv[5:])
"""
LEADER_COMMAND = [sys.executable, "-I", "-S", "-c", LEADER]


class LocalSession(PtySession):
    def __init__(
        self,
        argv: Sequence[str],
        *,
        folder: str,
        variables: Mapping[str, str],
        mark: int,
        beside: int = 0,
    ) -> None:
        """Start the program. It shares the mounts of the process ``beside``, or ours if that is 0.

        Raises ``FileNotFoundError`` if the program is not on the ``PATH`` in ``variables``.
        """
        if not shutil.which(argv[0], path=variables.get("PATH")):
            raise FileNotFoundError(f"{argv[0]} is not on this machine")
        leader = [*LEADER_COMMAND, str(mark), str(beside), folder, _namespaces_to_join(beside)]
        super().__init__([*leader, *argv], variables)


def _namespaces_to_join(pid: int) -> str:
    """Return the namespaces of a process that differ from ours, in the order in which to join
    them."""

    def differs(name: str) -> bool:
        theirs = Path(f"/proc/{pid}/ns/{name}")
        ours = Path(f"/proc/self/ns/{name}")
        try:
            return theirs.readlink() != ours.readlink()
        except OSError:  # not Linux
            return False

    return " ".join(filter(differs, ("user", "mnt")))
