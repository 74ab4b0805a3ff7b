"""A program that runs next to a rank, for a person who inspects it."""

import socket
from typing import Protocol


class Session(Protocol):
    """A program with its own terminal, next to the program of a rank.

    ``stream`` takes its input and has its output, and ends with the program. A slow reader slows
    the program down, so that no output piles up.
    """

    stream: socket.socket

    @property
    def exit_code(self) -> int | None:
        """The exit code; ``None`` while it runs, or if it was cut off."""
        ...

    @property
    def trouble(self) -> str:
        """Why it was cut off or did not begin; empty if nothing is wrong."""
        ...

    def resize(self, columns: int, rows: int) -> None: ...

    def close(self) -> None:
        """Hang up, which ends the program and its foreground processes. A second call does
        nothing."""
        ...
