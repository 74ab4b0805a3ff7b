"""Output of one log that was read and not yet stored."""

from collections import deque
from dataclasses import dataclass, field

MOST_BYTES = 1024**2  # about as many bytes are read ahead of what is stored


@dataclass
class Buffer:
    """Pieces of output, each with the cursor after it. Callers hold the lock of the log streams."""

    _size: int = 0  # bytes
    _pieces: deque[tuple[bytes, str]] = field(default_factory=deque)

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def is_full(self) -> bool:
        """Whether reading has to wait until something is taken."""
        return self._size >= MOST_BYTES

    def put(self, data: bytes, cursor: str) -> None:
        self._pieces.append((data, cursor))
        self._size += len(data)

    def take(self, limit: int) -> tuple[bytes, str]:
        """Take about ``limit`` bytes. Returns them and the cursor after them, or two empty
        values."""
        blocks: list[bytes] = []
        cursor = ""
        while self._pieces and (not blocks or len(self._pieces[0][0]) <= limit):
            data, cursor = self._pieces.popleft()
            blocks.append(data)
            limit -= len(data)
            self._size -= len(data)
        return b"".join(blocks), cursor

    def clear(self) -> None:
        self._pieces.clear()
        self._size = 0
