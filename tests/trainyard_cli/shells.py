"""Programs in a terminal of their own, as people start them."""

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

#: What a terminal is told besides its text.
PAINT = re.compile(r"\x1b\[[\d;]*[A-Za-z]|[\x00\x0f]")
PATIENCE = 30.0


@dataclass
class ShellTerminal:
    """What a program that runs in it shows; ``pid`` is 0 once it has ended."""

    handle: int
    pid: int
    shown: str = field(default="")

    def type(self, text: str) -> None:
        os.write(self.handle, text.encode())

    def wait_for(self, *texts: str) -> str:
        """Until each is shown; what was shown meanwhile."""
        ends, begin = time.monotonic() + PATIENCE, len(self.shown)
        while not all(it in PAINT.sub("", self.shown[begin:]) for it in texts):
            if not select.select([self.handle], [], [], max(ends - time.monotonic(), 0))[0]:
                pytest.fail(f"{texts} was not shown: {self.shown[begin:]!r}")
            self.shown += os.read(self.handle, 65536).decode(errors="replace")
        return self.shown[begin:]

    def end(self) -> tuple[str, int]:
        """Once the program has ended: all that was shown, and its exit code."""
        ends = time.monotonic() + PATIENCE
        with suppress(OSError):  # a terminal that nobody has open any more
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
    pid, handle = pty.fork()
    if not pid:
        for number in (signal.SIGINT, signal.SIGQUIT):  # a test run in the background ignores them
            signal.signal(number, signal.SIG_DFL)
        os.execvpe(argv[0], argv, environment)  # noqa: S606 -- it is what is tested
    terminal = ShellTerminal(handle, pid)
    try:
        yield terminal
    finally:
        if terminal.pid:
            os.kill(terminal.pid, signal.SIGKILL)
            os.waitpid(terminal.pid, 0)
        os.close(handle)
