"""What was brought of logs and not yet taken. Whoever uses it holds the lock of the logs."""

from collections import deque
from dataclasses import dataclass, field

OWN_BYTES = 512 * 1024  # that each log may hold
#: That all logs of a cluster may hold beyond that: a burst is read at the pace of its writer, for a
#: node rotates away what it could not send in time.
SHARED_BYTES = 64 * 1024**2


@dataclass
class Ahead:
    """All logs of a cluster, in bytes."""

    held: int = 0


@dataclass
class Pieces:
    """One log: pieces, each with the place behind it."""

    ahead: Ahead
    _held: int = 0
    _pieces: deque[tuple[bytes, str]] = field(default_factory=deque)

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def is_full(self) -> bool:
        """Whether the next one has to wait until some are taken."""
        return self._held >= OWN_BYTES and self.ahead.held >= SHARED_BYTES

    def put(self, data: bytes, place: str) -> None:
        self._pieces.append((data, place))
        self._count(len(data))

    def take(self, limit: int) -> tuple[bytes, str]:
        """About ``limit`` bytes, and the place behind them; both empty where nothing is held."""
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
