"""A program that runs next to a rank, for someone who looks into it."""

import socket
from typing import Protocol


class Session(Protocol):
    """A program with a terminal of its own, next to a rank's program.

    Input is written to ``stream`` and output is read from it; it ends when the program has ended. A
    slow reader slows the program down, so nothing piles up.
    """

    stream: socket.socket

    @property
    def exit_code(self) -> int | None:
        """The exit code; ``None`` while it runs, or if it was cut off."""
        ...

    @property
    def trouble(self) -> str:
        """Why it was cut off or never began; empty if nothing is wrong."""
        ...

    def resize(self, columns: int, rows: int) -> None: ...

    def close(self) -> None:
        """Hang up, which ends the program and what it runs in the foreground. A second call does
        nothing."""
        ...
