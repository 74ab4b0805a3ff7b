"""Plays a collector that reads the output of one container, start by start. No cluster is
needed."""

from typing import Any
from uuid import uuid4

from engines.logs import Log
from tests.engines.kubernetes.logs.nodes import Nodes, read, streams_of
from tests.waiting import wait_for


def line(seconds: int, text: bytes) -> bytes:
    return b"2026-01-01T00:00:%02d.500000000Z %s\n" % (seconds, text)


def at(seconds: int) -> str:
    return f"2026-01-01T00:00:{seconds:02d}Z"


def goes_on(nodes: Nodes, *, before: bytes | None, log: bytes) -> None:
    """The node starts the container once more, and keeps the log ``before`` that or not."""
    nodes.before = before
    nodes.log = log
    for answer in nodes.answers:
        answer.shutdown()


class Reading:
    """Reads what each start of the only rank prints, as a collector does."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.streams = streams_of(nodes)
        self.uid = uuid4()
        self.texts: dict[int, bytes] = {}
        self.ended: set[int] = set()
        self._cursors: dict[Log, str] = {}

    def hears(self, **state: Any) -> None:
        """Let the API report the pod, in a state of ``Nodes.snapshot``."""
        snapshot = self.nodes.snapshot("up", 1, **state)
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

    def until_followed(self, start: int, text: bytes) -> None:
        """Read until a start has printed a text, and an answer follows its log."""
        self.until(start, text)
        self.nodes.until_followed()

    def until_ended(self, *of: int) -> None:
        """Read until the logs of these starts have ended."""
        wait_for(lambda: self.take() and self.ended >= set(of))
