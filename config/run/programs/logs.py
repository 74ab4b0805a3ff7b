"""The log file of one program: kept small, and searched for lines that report errors."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

LARGEST = 20_000_000  # bytes; then it moves to <name>.log.1
COMPLAINT = re.compile(rb"\b(ERROR|CRITICAL)\b|^Traceback |^\w*(Error|Exception)\b")


class LogFile:
    """A file that a program appends to while the manager reads along."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.touch()
        self._read_to = self.path.stat().st_size

    def output(self) -> IO[bytes]:
        """The open file that the program writes to; ``/dev/null`` while the disk takes nothing."""
        try:
            return self.path.open("ab")
        except OSError:
            return Path(os.devnull).open("ab")

    def complaints(self) -> Iterator[str]:
        """The lines written since the last call that a person should see."""
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
                if COMPLAINT.search(line):
                    yield line.decode(errors="replace").rstrip()

    def tail(self, lines: int = 15) -> str:
        with self.path.open("rb") as file:
            file.seek(max(0, self.path.stat().st_size - 10_000))
            return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])

    def keep_small(self) -> None:
        """Rotate the log by copying and truncating: the program has the file open in append
        mode."""
        if self.path.stat().st_size <= LARGEST:
            return
        # On a full disk the older lines are lost; truncating then frees space.
        with suppress(OSError):
            self.path.with_suffix(".log.1").write_bytes(self.path.read_bytes())
        with suppress(OSError):
            os.truncate(self.path, 0)
        self._read_to = 0
