"""The log file of a program, which is rotated and searched for lines that report errors."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

MAX_BYTES = 20_000_000  # bytes; then it moves to <name>.log.1
ERROR_LINE = re.compile(rb"\b(ERROR|CRITICAL)\b|^Traceback |^\w*(Error|Exception)\b")


class LogFile:
    """A file that a program appends to while the manager reads along."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.touch()
        self._read_to = self.path.stat().st_size

    def open_output(self) -> IO[bytes]:
        """Open the file that the program writes to, or ``/dev/null`` while the disk is full."""
        try:
            return self.path.open("ab")
        except OSError:
            return Path(os.devnull).open("ab")

    def new_errors(self) -> Iterator[str]:
        """Yield the lines that report an error, of those written since the last call."""
        size = self.path.stat().st_size
        if size <= self._read_to:
            self._read_to = size
            return
        with self.path.open("rb") as file:
            file.seek(self._read_to)
            for line in file:
                if not line.endswith(b"\n"):
                    break  # not complete yet
                self._read_to += len(line)
                if ERROR_LINE.search(line):
                    yield line.decode(errors="replace").rstrip()

    def tail(self, lines: int = 15) -> str:
        with self.path.open("rb") as file:
            file.seek(max(0, self.path.stat().st_size - 10_000))
            return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])

    def rotate(self) -> None:
        """Copy a large log and truncate it. It is not renamed, because the program has it open, in
        append mode."""
        if self.path.stat().st_size <= MAX_BYTES:
            return
        # On a full disk the older lines are lost; truncating then frees space.
        with suppress(OSError):
            self.path.with_suffix(".log.1").write_bytes(self.path.read_bytes())
        with suppress(OSError):
            os.truncate(self.path, 0)
        self._read_to = 0
