"""Plays a collector that takes the output of a container by its starts. No cluster."""

from uuid import uuid4

from engines.logs import Log
from tests.engines.kubernetes.logs.nodes import Nodes, read, streams_of
from tests.waiting import wait_for


class Reading:
    """Takes what each start of the only rank printed, as a collector does."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes, self.streams, self.uid = nodes, streams_of(nodes), uuid4()
        self.texts: dict[int, bytes] = {}
        self.ended: set[int] = set()
        self._cursors: dict[Log, str] = {}

    def hears(self, *, ended: str = "", restarts: int = 0, last: str = "") -> None:
        """What the API says by now."""
        snapshot = self.nodes.snapshot("up", 1, ended=ended, restarts=restarts, last=last)
        self.streams.on_change(self.uid, snapshot)

    def take(self) -> bool:
        """A piece of each log; always true."""
        logs = self.streams.logs(self.uid, 1)
        for log, piece in zip(logs, read(self.streams, self.uid, self._cursors), strict=True):
            self.texts[log.start] = self.texts.get(log.start, b"") + piece.data
            self.ended |= {log.start} if piece.ended else set()
        return True

    def until(self, start: int, text: bytes) -> None:
        wait_for(lambda: self.take() and text in self.texts.get(start, b""))

    def until_ended(self, *of: int) -> None:
        wait_for(lambda: self.take() and self.ended >= set(of))
