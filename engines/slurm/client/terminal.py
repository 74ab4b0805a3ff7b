"""A program with a terminal on the cluster: ``srun --pty`` through a terminal of this host."""

import fcntl
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Sequence
from contextlib import suppress

from engines.slurm.client.transport import variables

PIECE = 16_384
PATIENCE = 5.0  # seconds between hanging up and killing
# Makes the terminal that of the new session, so that hanging up and sizes reach it.
LEADER = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
LEADING = [sys.executable, "-I", "-S", "-c", LEADER]
GLANCE = 0.5  # seconds between two looks at whether it is to be closed


class PtySession:
    """See ``engines.session.Session``. Who hangs up ends the client, and Slurm ends the program."""

    def __init__(self, line: Sequence[str]) -> None:
        self._master, terminal = pty.openpty()
        try:
            self._process = subprocess.Popen(
                [*LEADING, *line],
                stdin=terminal,
                stdout=terminal,
                stderr=terminal,
                env={**variables(), "TERM": "xterm-256color"},
                start_new_session=True,
            )
        except OSError:
            os.close(self._master)
            raise
        finally:
            os.close(terminal)
        self.stream, self._inner = socket.socketpair()
        self.trouble, self._typed = "", b""
        self._closing = threading.Event()
        self._lock = threading.Lock()
        os.set_blocking(self._master, False)
        self._carrier = threading.Thread(target=self._carry, daemon=True, name="terminal")
        self._carrier.start()

    @property
    def exit_code(self) -> int | None:
        return self._process.returncode

    def resize(self, columns: int, rows: int) -> None:
        size = struct.pack("HHHH", rows, columns, 0, 0)
        with self._lock, suppress(OSError):
            if self._master >= 0:
                fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)

    def close(self) -> None:
        self._closing.set()
        with suppress(OSError):
            self.stream.shutdown(socket.SHUT_RDWR)
        self._carrier.join(2 * PATIENCE)
        self.stream.close()

    def _carry(self) -> None:
        with self._inner:
            with suppress(OSError):  # Linux says EIO when the last process has left the terminal
                while not self._closing.is_set() and self._turn():
                    pass
            self._end()
        with self._lock:
            os.close(self._master)
            self._master = -1

    def _turn(self) -> bool:
        inner = self._inner.fileno()
        sources = [self._master] if self._typed else [self._master, inner]
        sinks = [self._master] if self._typed else []
        readable, writable, _ = select.select(sources, sinks, [], GLANCE)
        if writable:
            self._typed = self._typed[os.write(self._master, self._typed) :]
        if inner in readable:
            self._typed = self._inner.recv(PIECE)
            if not self._typed:
                return False
        if self._master in readable:
            printed = os.read(self._master, PIECE)
            self._inner.sendall(printed)
            return bool(printed)
        return True

    def _end(self) -> None:
        for number in (signal.SIGHUP, signal.SIGKILL):
            if self._process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, number)
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(PATIENCE)
