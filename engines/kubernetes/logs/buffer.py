"""Output that was read and not yet stored. Callers hold the lock of the log streams."""

from collections import deque
from dataclasses import dataclass, field

OWN_BYTES = 512 * 1024  # that each log may buffer
#: Shared by all logs of a cluster beyond that. Bursts are read as fast as they are written, because
#: a node rotates away what it could not send in time.
SHARED_BYTES = 64 * 1024**2


@dataclass
class SharedBuffer:
    """How much all logs of a cluster have buffered."""

    size: int = 0  # bytes


@dataclass
class Buffer:
    """The buffer of one log: pieces of output, each with the cursor after it."""

    shared: SharedBuffer
    _size: int = 0  # bytes
    _pieces: deque[tuple[bytes, str]] = field(default_factory=deque)

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def is_full(self) -> bool:
        """Whether reading has to wait until something is taken."""
        return self._size >= OWN_BYTES and self.shared.size >= SHARED_BYTES

    def put(self, data: bytes, cursor: str) -> None:
        self._pieces.append((data, cursor))
        self._resize(len(data))

    def take(self, limit: int) -> tuple[bytes, str]:
        """Take about ``limit`` bytes. Returns them and the cursor after them, or two empty
        values."""
        blocks: list[bytes] = []
        cursor = ""
        while self._pieces and (not blocks or len(self._pieces[0][0]) <= limit):
            data, cursor = self._pieces.popleft()
            blocks.append(data)
            limit -= len(data)
            self._resize(-len(data))
        return b"".join(blocks), cursor

    def clear(self) -> None:
        self._pieces.clear()
        self._resize(-self._size)

    def _resize(self, more: int) -> None:
        self._size += more
        self.shared.size += more
