"""Wakes up a supervisor: when the bell rings, a child ends, or time has passed."""

import os
import selectors
import signal
import socket
from contextlib import suppress
from pathlib import Path
from types import FrameType


class Bell:
    """Listens on the workload's FIFO. A workload whose FIFO has a listener counts as supervised."""

    def __init__(self, path: Path) -> None:
        # Opened for reading and writing: if opened only for reading, it would be at its end
        # whenever a writer closes it, and the supervisor would never sleep.
        self._fifo = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._woken, self._waker = socket.socketpair()
        self._woken.setblocking(False)
        self._waker.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _wake)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._fifo, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)

    def wait(self, seconds: float) -> None:
        """Wait until something may have happened, but at most ``seconds``."""
        if self._selector.select(max(seconds, 0)):
            with suppress(BlockingIOError):
                os.read(self._fifo, 4096)
            with suppress(BlockingIOError):
                self._woken.recv(4096)


def _wake(number: int, frame: FrameType | None) -> None:
    """Do nothing: Python has written to the wake-up socket already."""
