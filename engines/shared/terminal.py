"""Runs a program with a terminal on this machine, for engines whose sessions are local
processes."""

import fcntl
import os
import select
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

import psutil

PIECE = 16_384
PATIENCE = 2.0  # seconds between hanging up and killing
GLANCE = 0.5  # seconds between two checks whether it is to be closed


class PtySession:
    """A session; see ``engines.session.Session``.

    The program leads a session of the system, and has to take the terminal itself, as only the
    leader can. When it ends, everything else in that session is killed.
    """

    def __init__(self, line: Sequence[str], variables: Mapping[str, str]) -> None:
        self._master, terminal = os.openpty()
        try:
            self._process = subprocess.Popen(
                line,
                stdin=terminal,
                stdout=terminal,
                stderr=terminal,
                env={**variables, "TERM": "xterm-256color"},
                start_new_session=True,
            )
        except OSError:
            os.close(self._master)
            raise
        finally:
            os.close(terminal)
        self.stream, self._inner = socket.socketpair()
        os.set_blocking(self._master, False)
        self.trouble = ""
        self._typed = b""
        self._closing = threading.Event()
        self._lock = threading.Lock()  # over the terminal's file descriptor, which may be reused
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
            self._end()  # before the other side sees the end, so that it knows the exit code
        with self._lock:
            os.close(self._master)
            self._master = -1

    def _turn(self) -> bool:
        """Carry what is there in both directions. Returns ``False`` at the end of either side."""
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
        """End the program as a hang-up does: SIGHUP, then SIGKILL for whatever remains.

        The leader is reaped last, so that its pid is not reused meanwhile.
        """
        if not self._has_ended():
            self._signal(signal.SIGHUP)
            deadline = time.monotonic() + PATIENCE
            while not self._has_ended() and time.monotonic() < deadline:
                time.sleep(0.01)
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _has_ended(self) -> bool:
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._process.pid, options) is not None

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to every process of the session."""
        for pid in psutil.pids():
            with suppress(ProcessLookupError, PermissionError):
                if os.getsid(pid) == self._process.pid:
                    os.kill(pid, number)
