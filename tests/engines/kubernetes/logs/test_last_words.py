"""Whether the last lines of a log may still come, which the end waits for. No cluster."""

from uuid import UUID, uuid4

import pytest

from engines.kubernetes.logs import follower, silent_nodes
from engines.kubernetes.logs.streams import LogStreams
from engines.logs import Log, LogChunk
from tests.engines.kubernetes.logs.nodes import AT, LINE, Nodes, read, streams_of
from tests.waiting import wait_for

LATER = "2026-01-01T00:01:00Z"


@pytest.fixture
def nodes() -> Nodes:
    nodes = Nodes()
    nodes.slow.set()
    return nodes


class Reading:
    """Reads the only rank of a workload, as a collector does."""

    def __init__(self, streams: LogStreams, uid: UUID) -> None:
        self.streams = streams
        self.uid = uid
        self.text = b""
        self._cursors: dict[Log, str] = {}

    def piece(self) -> LogChunk:
        (piece,) = read(self.streams, self.uid, self._cursors)
        self.text += piece.data
        return piece

    def is_here(self) -> bool:
        """Whether nothing more is waited for."""
        piece = self.piece()
        return not piece.data and not piece.awaited


def test_a_log_is_waited_for_until_an_answer_after_the_end(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the node is asked for it again in a minute."""
    monkeypatch.setattr(follower, "PAUSE_SECONDS", (60.0, 60.0))
    streams = streams_of(nodes)
    uid = uuid4()
    streams.on_change(uid, nodes.snapshot("up", 1))
    reading = Reading(streams, uid)
    wait_for(lambda: reading.piece() and reading.text)
    nodes.until_followed()
    nodes.log = LINE + LINE.replace(b"hello\n", b"no newline")
    nodes.end()
    wait_for(lambda: not streams._serving)
    assert reading.piece().awaited, "it still runs, as far as the API knows"
    streams.on_change(uid, nodes.snapshot("up", 1, ended=LATER))
    wait_for(lambda: reading.piece().ended)
    assert reading.text == b"hello\nno newline"


def test_an_end_waits_for_no_node_that_gives_no_logs(nodes: Nodes) -> None:
    nodes.away = {"down"}
    streams = streams_of(nodes)
    first = uuid4()
    second = uuid4()
    streams.on_change(first, nodes.snapshot("down", 1))
    reading = Reading(streams, first)
    wait_for(lambda: reading.piece().late)
    assert reading.is_here()
    streams.on_change(second, nodes.snapshot("down", 1, ended=LATER))
    assert Reading(streams, second).is_here(), "it is known by now that none will come"


def test_a_node_that_reports_an_end_is_asked_again_at_once(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silent_nodes, "PAUSE_SECONDS", (600.0, 600.0))
    streams = streams_of(nodes)
    uid = uuid4()
    streams.on_change(uid, nodes.snapshot("up", 1))
    reading = Reading(streams, uid)
    wait_for(lambda: reading.piece() and reading.text)
    nodes.until_followed()
    nodes.away = {"up"}
    nodes.answers[-1].shutdown()
    wait_for(lambda: reading.piece().late and streams._silent_nodes.has_failed("up"))
    nodes.away.clear()
    asked = len(nodes.asked)
    streams.on_change(uid, nodes.snapshot("up", 1, ended=LATER))
    assert not reading.piece().late
    wait_for(lambda: len(nodes.asked) > asked, 20, "the node, which else is asked after minutes")


def test_the_watch_hears_when_a_log_may_be_here(nodes: Nodes) -> None:
    heard: list[str] = []
    streams = LogStreams(streams_of(nodes)._api, on_end=lambda: heard.append(AT))
    uid = uuid4()
    streams.on_change(uid, nodes.snapshot("up", 1))
    reading = Reading(streams, uid)
    wait_for(lambda: reading.piece() and reading.text)
    assert heard == []
    streams.on_change(uid, nodes.snapshot("up", 1, ended=LATER))
    nodes.end()
    wait_for(lambda: heard)
