"""What a node rotated away is told by a line, and little of it is. No cluster."""

from uuid import UUID, uuid4

import pytest

from engines.kubernetes.logs import buffer
from engines.kubernetes.logs.cursor import LogCursor
from engines.kubernetes.logs.reader import ROTATED, Reader
from engines.kubernetes.logs.streams import LogStreams
from engines.logs import Log
from tests.engines.kubernetes.logs.nodes import AT, Nodes, ago, read, streams_of
from tests.waiting import wait_for


def line(seconds: int, text: bytes) -> bytes:
    return b"2026-01-01T00:00:%02d.000000000Z %s\n" % (seconds, text)


def collected(
    streams: LogStreams, uid: UUID, cursors: dict[Log, str], *, until: bytes = b""
) -> bytes:
    """What one collector takes of the only log: to its end, or to a text."""
    told = b""

    def is_enough() -> bool:
        nonlocal told
        (piece,) = read(streams, uid, cursors)
        told += piece.data
        return until in told if until else piece.ended

    wait_for(is_enough)
    return told


@pytest.mark.parametrize("is_silent", [False, True])
def test_a_log_first_read_late_says_its_head_may_be_missing(
    is_silent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it was empty then: so is a file that was just begun."""
    monkeypatch.setattr("engines.kubernetes.logs.follower.ROTATION_SECONDS", 5.0)
    nodes = Nodes()
    uid = uuid4()
    streams = streams_of(nodes)
    streams.on_change(uid, nodes.snapshot("up", 1))
    cursors: dict[Log, str] = {}
    if is_silent:
        nodes.log = b""
        read(streams, uid, cursors)
        nodes.until_followed()
    nodes.log = line(31, b"one")
    for answer in nodes.answers:
        answer.shutdown()
    assert collected(streams, uid, cursors, until=b"one\n") == ROTATED + b"one\n"


def test_a_log_that_begins_early_says_nothing_if_read_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As after a worker was away for a moment."""
    monkeypatch.setattr("engines.kubernetes.logs.follower.ROTATION_SECONDS", 5.0)
    nodes = Nodes()
    uid = uuid4()
    nodes.log = line(4, b"one") + line(50, b"two")
    streams = streams_of(nodes)
    streams.on_change(uid, nodes.snapshot("up", 1))
    assert collected(streams, uid, {}, until=b"two") == b"one\ntwo\n"


def test_a_log_read_from_the_start_says_nothing_when_it_begins_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engines.kubernetes.logs.follower.ROTATION_SECONDS", 5.0)
    monkeypatch.setattr("engines.kubernetes.logs.follower.PAUSE_SECONDS", (0.05, 0.1))
    nodes = Nodes(started=ago(1))
    nodes.log = b""
    uid = uuid4()
    streams = streams_of(nodes)
    streams.on_change(uid, nodes.snapshot("up", 1))
    read(streams, uid, {})
    nodes.until_followed()
    nodes.started = ago(60)
    nodes.snapshot("up", 1)
    nodes.log = line(1, b"loaded")
    nodes.answers[-1].shutdown()
    assert collected(streams, uid, {}, until=b"loaded") == b"loaded\n"


def test_a_tail_that_was_rotated_away_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = Nodes()
    uid = uuid4()
    nodes.log = line(1, b"one")
    streams = streams_of(nodes)
    cursors = dict[Log, str]()
    streams.on_change(uid, nodes.snapshot("up", 1))
    told = collected(streams, uid, cursors, until=b"one\n")
    nodes.until_followed()
    nodes.log = b""  # the rest of it is in files that were rotated away
    streams.on_change(uid, nodes.snapshot("up", 1, ended="2026-01-01T00:00:40Z"))
    nodes.end()
    told += collected(streams, uid, cursors)
    assert told == b"one\n" + ROTATED
    again = streams_of(nodes)
    again.on_change(uid, nodes.snapshot("up", 1, ended="2026-01-01T00:00:40Z"))
    assert collected(again, uid, cursors) == b""


def test_a_tail_that_is_still_there_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = Nodes()
    uid = uuid4()
    nodes.log = line(1, b"one") + line(2, b"the end")[:-1]
    streams = streams_of(nodes)
    streams.on_change(uid, nodes.snapshot("up", 1, ended=AT))
    assert collected(streams, uid, {}) == b"one\nthe end"


def test_an_empty_file_instead_of_the_one_read_is_a_gap() -> None:
    reader = Reader(LogCursor())
    reader.feed(line(31, b"cut here"))
    reader.connect()
    assert reader.is_seeking
    assert reader.finish() == ROTATED


def test_a_message_of_the_node_instead_of_the_log_is_no_gap() -> None:
    reader = Reader(LogCursor())
    reader.feed(line(1, b"one"))
    reader.connect()
    reader.feed(b"unable to retrieve container logs for containerd://4c36")
    assert reader.end() == b""
    assert reader.has_message
    assert reader.give_up(has_all=True) == b""


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_log_that_was_rotated_between_two_connections_says_so(
    is_cut: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows what the node had not sent yet, also where the answer came to an end."""
    nodes = Nodes()
    uid = uuid4()
    nodes.log = line(1, b"one")
    streams = streams_of(nodes)
    cursors = dict[Log, str]()
    streams.on_change(uid, nodes.snapshot("up", 1))
    told = collected(streams, uid, cursors, until=b"one\n")
    nodes.until_followed()
    nodes.log = line(2, b"two")
    if is_cut:
        (follower,) = streams._all()
        with streams._lock:
            follower.cut()
    streams.on_change(uid, nodes.snapshot("up", 1, ended="2026-01-01T00:00:03Z"))
    nodes.end()
    told += collected(streams, uid, cursors)
    assert told == b"one\n" + ROTATED + b"two\n"


def test_a_log_that_nobody_takes_is_read_a_little_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffer, "MOST_BYTES", 128 * 1024)
    nodes = Nodes()
    uid = uuid4()
    nodes.log = line(1, b"x" * 100) * 40_000
    streams = streams_of(nodes)
    streams.on_change(uid, nodes.snapshot("up", 3))
    read(streams, uid, {})
    wait_for(lambda: all(one._buffer.is_full for one in streams._all()))
    assert all(answer.sent < 512 * 1024 for answer in nodes.answers)
    streams._close()
    wait_for(lambda: not streams._serving)
