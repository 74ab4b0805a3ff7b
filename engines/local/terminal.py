"""Run a program with a terminal next to a rank: in its folder, with its variables, as the same
user."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from engines.shared.terminal import PtySession

# Makes the terminal the new session's, which only its leader can do, and becomes the program. It
# also carries its workload's mark, which must not come from the server's threads, and enters the
# rank's mounts.
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
LEADING = [sys.executable, "-I", "-S", "-c", LEADER]


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
        """``beside``: a process whose mounts it shares; 0 for ours."""
        if not shutil.which(argv[0], path=variables.get("PATH")):
            raise FileNotFoundError(f"{argv[0]} is not on this machine")
        leading = [*LEADING, str(mark), str(beside), folder, _own_spaces(beside)]
        super().__init__([*leading, *argv], variables)


def _own_spaces(pid: int) -> str:
    """Namespaces of a process that differ from ours, in the order in which to join them."""

    def is_own(name: str) -> bool:
        theirs = Path(f"/proc/{pid}/ns/{name}")
        ours = Path(f"/proc/self/ns/{name}")
        try:
            return theirs.readlink() != ours.readlink()
        except OSError:  # not Linux
            return False

    return " ".join(filter(is_own, ("user", "mnt")))
