"""Buffers between reading logs and storing them. Callers hold the lock of the log streams."""

from collections import deque
from dataclasses import dataclass, field

OWN_BYTES = 512 * 1024  # that each log may buffer
#: Shared by all logs of a cluster beyond that. Bursts are read as fast as they are written, because
#: a node rotates away what it could not send in time.
SHARED_BYTES = 64 * 1024**2


@dataclass
class Ahead:
    """Bytes that all logs of a cluster have buffered."""

    held: int = 0


@dataclass
class Pieces:
    """The buffer of one log: pieces, each with the cursor after it."""

    ahead: Ahead
    _held: int = 0
    _pieces: deque[tuple[bytes, str]] = field(default_factory=deque)

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def is_full(self) -> bool:
        """Whether reading has to wait until something is taken."""
        return self._held >= OWN_BYTES and self.ahead.held >= SHARED_BYTES

    def put(self, data: bytes, place: str) -> None:
        self._pieces.append((data, place))
        self._count(len(data))

    def take(self, limit: int) -> tuple[bytes, str]:
        """Take about ``limit`` bytes; returns them and the cursor after them, or two empty
        values."""
        blocks: list[bytes] = []
        place = ""
        while self._pieces and (not blocks or len(self._pieces[0][0]) <= limit):
            data, place = self._pieces.popleft()
            blocks.append(data)
            limit -= len(data)
            self._count(-len(data))
        return b"".join(blocks), place

    def clear(self) -> None:
        self._pieces.clear()
        self._count(-self._held)

    def _count(self, more: int) -> None:
        self._held += more
        self.ahead.held += more
