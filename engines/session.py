"""A program that is run beside a rank for somebody who looks into it."""

import socket
from typing import Protocol


class Session(Protocol):
    """A program with a terminal of its own, beside what a rank runs.

    What is typed is written to ``stream``, what it prints is read from there, and there is an end
    when the program has ended. Reading slowly holds the program up, so nothing piles up.
    """

    stream: socket.socket

    @property
    def exit_code(self) -> int | None:
        """``None`` while it runs, and where it was cut off."""
        ...

    @property
    def trouble(self) -> str:
        """Why it was cut off or never began; empty where nothing is wrong."""
        ...

    def resize(self, columns: int, rows: int) -> None: ...

    def close(self) -> None:
        """Hang up: the program and what it runs in the foreground end. Twice is once."""
        ...
