"""Plays a collector that reads the output of one container, start by start. No cluster is
needed."""

from uuid import uuid4

from engines.logs import Log
from tests.engines.kubernetes.logs.nodes import Nodes, read, streams_of
from tests.waiting import wait_for


class Reading:
    """Reads what each start of the only rank prints, as a collector does."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes, self.streams, self.uid = nodes, streams_of(nodes), uuid4()
        self.texts: dict[int, bytes] = {}
        self.ended: set[int] = set()
        self._cursors: dict[Log, str] = {}

    def hears(self, *, ended: str = "", restarts: int = 0, last: str = "") -> None:
        """Let the API report the pod, in this state."""
        snapshot = self.nodes.snapshot("up", 1, ended=ended, restarts=restarts, last=last)
        self.streams.on_change(self.uid, snapshot)

    def take(self) -> bool:
        """Read a piece of each log. Always true."""
        logs = self.streams.logs(self.uid, 1)
        for log, piece in zip(logs, read(self.streams, self.uid, self._cursors), strict=True):
            self.texts[log.start] = self.texts.get(log.start, b"") + piece.data
            self.ended |= {log.start} if piece.ended else set()
        return True

    def until(self, start: int, text: bytes) -> None:
        """Read until a start has printed a text."""
        wait_for(lambda: self.take() and text in self.texts.get(start, b""))

    def until_ended(self, *of: int) -> None:
        """Read until the logs of these starts have ended."""
        wait_for(lambda: self.take() and self.ended >= set(of))
