"""Run a program with a terminal on the cluster: ``srun --pty`` in a terminal of this host. Hanging
up ends the client, and then Slurm ends the program."""

import sys
from collections.abc import Sequence

from engines.shared.terminal import PtySession
from engines.slurm.client.transport import variables

# Makes this the terminal of the new session, so that it gets hang-ups and size changes.
LEADER = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
LEADING = [sys.executable, "-I", "-S", "-c", LEADER]


def session(line: Sequence[str]) -> PtySession:
    return PtySession([*LEADING, *line], variables())
