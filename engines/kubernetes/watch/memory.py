"""What a watch saw, for the next one: mostly that follows at once, only to list everything anew."""

from threading import Timer
from uuid import UUID

from engines.kubernetes.watch.snapshot import Snapshot

LINGER = 5.0  # seconds for which it is kept: somebody else may watch by now


class Memory:
    def __init__(self) -> None:
        self._snapshots: dict[UUID, Snapshot] = {}
        self._end: Timer | None = None

    def keep(self, snapshots: dict[UUID, Snapshot]) -> None:
        self.take()
        self._snapshots = snapshots
        self._end = Timer(LINGER, self.take)
        self._end.daemon = True
        self._end.start()

    def take(self) -> dict[UUID, Snapshot]:
        """It is forgotten with that."""
        if self._end is not None:
            self._end.cancel()
        snapshots, self._snapshots = self._snapshots, {}
        return snapshots
