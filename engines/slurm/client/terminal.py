"""A program with a terminal on the cluster: ``srun --pty`` through a terminal of this host. Who
hangs up ends the client, and Slurm ends the program."""

import sys
from collections.abc import Sequence

from engines.shared.terminal import PtySession
from engines.slurm.client.transport import variables

# Makes the terminal that of the new session, so that hanging up and sizes reach it.
LEADER = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
LEADING = [sys.executable, "-I", "-S", "-c", LEADER]


def session(line: Sequence[str]) -> PtySession:
    return PtySession([*LEADING, *line], variables())
