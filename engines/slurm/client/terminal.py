"""Runs a program with a terminal on the cluster: ``srun --pty`` in a terminal of this host. A
hang-up ends ``srun``, and Slurm then ends the program."""

import sys
from collections.abc import Sequence

from engines.shared.terminal import PtySession
from engines.slurm.client.transport import clean_environment

# Makes its input the terminal of the new session, so that it gets hang-ups and changes of size.
LEADER = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
LEADER_COMMAND = [sys.executable, "-I", "-S", "-c", LEADER]


def open_session(line: Sequence[str]) -> PtySession:
    return PtySession([*LEADER_COMMAND, *line], clean_environment())
