"""Hand the snapshots of one watch to the next, which would otherwise judge all workloads again."""

from threading import Timer
from uuid import UUID

from engines.kubernetes.watch.snapshot import Snapshot

LINGER_SECONDS = 5.0  # seconds that snapshots are kept; later another process may watch


class Memory:
    def __init__(self) -> None:
        self._snapshots: dict[UUID, Snapshot] = {}
        self._expiry: Timer | None = None

    def keep(self, snapshots: dict[UUID, Snapshot]) -> None:
        self.take()
        self._snapshots = snapshots
        self._expiry = Timer(LINGER_SECONDS, self.take)
        self._expiry.daemon = True
        self._expiry.start()

    def take(self) -> dict[UUID, Snapshot]:
        """Return the snapshots, and forget them."""
        if self._expiry is not None:
            self._expiry.cancel()
        snapshots = self._snapshots
        self._snapshots = {}
        return snapshots
