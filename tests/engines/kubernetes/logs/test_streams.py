"""Who gets a stream, and what is said of a node that gives none. No cluster."""

from collections.abc import Mapping
from uuid import UUID, uuid4

import pytest

from engines.kubernetes.logs.streams import MOST_OPENING
from engines.logs import Log
from tests.engines.kubernetes.logs.nodes import AT, LINE, Answer, Nodes, read, streams_of
from tests.waiting import wait_for


@pytest.fixture
def nodes() -> Nodes:
    return Nodes()


def test_a_node_that_is_away_keeps_back_its_own_logs_only(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engines.kubernetes.logs.silent_nodes.PAUSE_SECONDS", (0.1, 0.2))
    nodes.away = {"down"}
    nodes.slow.set()
    streams = streams_of(nodes)
    down = uuid4()
    up = uuid4()
    streams.on_change(down, nodes.snapshot("down", 1))
    streams.on_change(up, nodes.snapshot("up", 2))
    cursors: dict[Log, str] = {}
    late: list[str] = []

    def text(uid: UUID) -> bytes:
        pieces = read(streams, uid, cursors)
        late.extend(piece.late for piece in pieces if piece.late)
        return b"".join(piece.data for piece in pieces)

    wait_for(lambda: text(up))
    wait_for(lambda: text(down) or late)
    assert "no route to host" in late[0]
    assert "down" in late[0]
    nodes.away.clear()
    assert wait_for(lambda: text(down)) == b"hello\n"
    assert not any(piece.late for piece in read(streams, down, cursors))


def test_a_dead_node_takes_few_streams(nodes: Nodes) -> None:
    nodes.away = {"down"}
    streams = streams_of(nodes, streams=8)
    down = uuid4()
    up = uuid4()
    streams.on_change(down, nodes.snapshot("down", 20))
    cursors: dict[Log, str] = {}
    read(streams, down, cursors)
    wait_for(lambda: nodes.most.get("down") == MOST_OPENING)
    streams.on_change(up, nodes.snapshot("up", 1))
    wait_for(lambda: any(piece.data for piece in read(streams, up, cursors)))
    assert nodes.most["down"] == MOST_OPENING
    nodes.slow.set()


def test_a_node_that_gave_no_logs_is_asked_again_by_one(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engines.kubernetes.logs.silent_nodes.PAUSE_SECONDS", (0.05, 0.05))
    nodes.away = {"down"}
    nodes.slow.set()
    streams = streams_of(nodes)
    uid = uuid4()
    streams.on_change(uid, nodes.snapshot("down", 8))
    cursors: dict[Log, str] = {}
    wait_for(lambda: all(piece.late for piece in read(streams, uid, cursors)))
    wait_for(lambda: not streams.news())
    nodes.most.clear()
    asked = len(nodes.asked)
    wait_for(lambda: streams.news() or len(nodes.asked) > asked + 3)
    assert nodes.most == {"down": 1}
    assert not streams.news(), "nothing is new but that it still gives none"


def test_quiet_logs_are_read_and_then_followed_by_one_stream_each(nodes: Nodes) -> None:
    streams = streams_of(nodes)
    uid = uuid4()
    streams.on_change(uid, nodes.snapshot("up", 5))
    assert streams.news() == {uid}
    cursors: dict[Log, str] = {}
    wait_for(lambda: read(streams, uid, cursors) and all(len(cursors[log]) for log in cursors))
    wait_for(lambda: not streams.news() and len(nodes.asked) == 10)
    assert sum(answer.follows for answer in nodes.answers) == 5


def test_pods_take_turns_where_there_are_too_few_streams_of_logs(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engines.kubernetes.logs.streams.TURN_SECONDS", 0.05)
    streams = streams_of(nodes, streams=2)
    uid = uuid4()
    streams.on_change(uid, nodes.snapshot("up", 6))
    cursors: dict[Log, str] = {}
    wait_for(lambda: read(streams, uid, cursors) and len(set(nodes.asked)) == 6)
    assert nodes.most["up"] <= 2


def test_pods_that_leave_come_first(nodes: Nodes) -> None:
    streams = streams_of(nodes, streams=1)
    uid = uuid4()
    snapshot = nodes.snapshot("up", 4)
    nodes.away = {"up"}
    streams.on_change(uid, snapshot)
    cursors: dict[Log, str] = {}
    read(streams, uid, cursors)
    wait_for(lambda: len(nodes.asked) == 1)
    last = snapshot.pods["up-3"]
    last["metadata"]["deletionTimestamp"] = AT
    streams.on_change(uid, snapshot)
    nodes.away.clear()
    nodes.slow.set()
    wait_for(lambda: streams.news() is not None and "up-3" in nodes.asked)
    assert nodes.asked.index("up-3") <= 2


def test_after_the_watch_all_is_forgotten(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engines.kubernetes.logs.streams.LINGER_SECONDS", 0.05)
    streams = streams_of(nodes)
    uid = uuid4()
    streams.on_change(uid, nodes.snapshot("up", 1))
    read(streams, uid, {})
    streams.close_later()
    streams.keep_open()
    assert streams.logs(uid, 1)
    streams.close_later()
    wait_for(lambda: not streams.logs(uid, 1))


class Printing(Nodes):
    """The program prints a line between two requests for its log."""

    def follow(self, path: str, query: Mapping[str, object], *, silence: float) -> Answer:
        count = len(self.asked) + 1
        self.log = b"".join(LINE.replace(b"0Z", b"%dZ" % number) for number in range(count))
        return super().follow(path, query, silence=silence)


def test_an_answer_that_falls_behind_is_requested_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The node may leave out a file, which only the next answer shows."""
    monkeypatch.setattr("engines.kubernetes.logs.follower.ROTATION_SECONDS", 0.0)
    nodes = Printing()
    streams = streams_of(nodes)
    uid = uuid4()
    streams.on_change(uid, nodes.snapshot("up", 1))
    cursors: dict[Log, str] = {}
    text = b""

    def is_asked_again() -> bool:
        nonlocal text
        text += b"".join(piece.data for piece in read(streams, uid, cursors))
        return text.count(b"hello\n") > 5

    wait_for(is_asked_again)
    assert text == b"hello\n" * text.count(b"hello\n")
    streams._close()
