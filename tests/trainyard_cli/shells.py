"""Runs programs in a terminal of their own, as people start them."""

import os
import pty
import re
import select
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pytest

#: Control sequences, which are no text.
PAINT = re.compile(r"\x1b\[[\d;]*[A-Za-z]|[\x00\x0f]")
PATIENCE = 30.0


@dataclass
class ShellTerminal:
    """A terminal with a running program. ``shown`` is its output, and ``pid`` is 0 once it has
    ended."""

    handle: int
    pid: int
    shown: str = field(default="")

    def type(self, text: str) -> None:
        os.write(self.handle, text.encode())

    def wait_for(self, *texts: str) -> str:
        """Wait until the program shows all of these texts, and return what it has shown since the
        call."""
        ends = time.monotonic() + PATIENCE
        begin = len(self.shown)
        while not all(it in PAINT.sub("", self.shown[begin:]) for it in texts):
            if not select.select([self.handle], [], [], max(ends - time.monotonic(), 0))[0]:
                pytest.fail(f"{texts} was not shown: {self.shown[begin:]!r}")
            self.shown += os.read(self.handle, 65536).decode(errors="replace")
        return self.shown[begin:]

    def end(self) -> tuple[str, int]:
        """Wait until the program ends. Returns all that it has shown, and its exit code."""
        ends = time.monotonic() + PATIENCE
        with suppress(OSError):  # the program has closed the terminal
            while select.select([self.handle], [], [], max(ends - time.monotonic(), 0))[0]:
                if not (data := os.read(self.handle, 65536)):
                    break
                self.shown += data.decode(errors="replace")
            else:
                pytest.fail(f"it does not end: {self.shown!r}")
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return self.shown, os.waitstatus_to_exitcode(status)


@contextmanager
def opened(argv: list[str], environment: dict[str, str]) -> Iterator[ShellTerminal]:
    """Run a program in a terminal, and kill it at the end of the block."""
    pid, handle = pty.fork()
    if not pid:
        for number in (signal.SIGINT, signal.SIGQUIT):  # ignored if tests run in the background
            signal.signal(number, signal.SIG_DFL)
        os.execvpe(argv[0], argv, environment)  # noqa: S606 -- it is what these tests run
    terminal = ShellTerminal(handle, pid)
    try:
        yield terminal
    finally:
        if terminal.pid:
            os.kill(terminal.pid, signal.SIGKILL)
            os.waitpid(terminal.pid, 0)
        os.close(handle)
