"""What a node rotated away is told by a line, and little of it is. No cluster."""

from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from engines.kubernetes.logs import ahead
from engines.kubernetes.logs.cursor import LogCursor
from engines.kubernetes.logs.reader import Reader
from engines.kubernetes.logs.rotation import BEHEADED, ROTATED, Beginning
from engines.kubernetes.logs.streams import LogStreams
from engines.logs import Log
from tests.engines.kubernetes.logs.nodes import AT, Nodes, ago, read, stamp, streams_of
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


def test_a_log_that_begins_long_after_its_container_says_that_its_head_may_be_missing() -> None:
    nodes, uid = Nodes(), uuid4()
    nodes.log = line(31, b"step 900,001")
    streams = streams_of(nodes)
    streams.on_change(uid, nodes.snapshot("up", 1))
    told = collected(streams, uid, {}, until=b"step")
    assert told == BEHEADED % 31 + b"step 900,001\n"


def test_a_log_that_was_read_from_the_start_says_nothing_however_late_it_begins() -> None:
    nodes, uid = Nodes(started=ago(1)), uuid4()
    nodes.log = b"%s loaded\n" % stamp(nodes.started, 30)
    streams = streams_of(nodes)
    streams.on_change(uid, nodes.snapshot("up", 1))
    assert collected(streams, uid, {}, until=b"loaded") == b"loaded\n"


def test_a_log_that_begins_with_its_container_lost_nothing() -> None:
    reader = Reader(LogCursor())
    reader.connect(beginning=Beginning(AT, 60, bytes))
    assert reader.feed(line(1, b"one") + line(50, b"two")) == b"one\ntwo\n"
    later = Reader(LogCursor.of(str(reader.cursor)))
    later.connect(beginning=Beginning(AT, 60, bytes))
    assert later.feed(line(50, b"two") + line(55, b"three")) == b"three\n"


@pytest.mark.parametrize("age", [4, 20])
@pytest.mark.parametrize(("copies", "is_lost"), [(1, False), (40, False), (20_000, True)])
@pytest.mark.parametrize("block", [64, 65_536])
def test_a_log_that_begins_early_lost_something_only_if_it_was_written_fast(
    age: int, copies: int, is_lost: bool, block: int
) -> None:
    """However early it was asked for, and however little of it came at first. What a program prints
    at once, after some seconds of loading, is no sign of more."""
    nodes, uid = Nodes(started=ago(age)), uuid4()
    nodes.log, nodes.block = b"%s %s\n" % (stamp(nodes.started, 3), b"x" * 60), block
    nodes.log *= copies
    streams = streams_of(nodes)
    streams.on_change(uid, nodes.snapshot("up", 1))
    told = collected(streams, uid, {}, until=b"x\n")
    assert told.startswith(BEHEADED % 3) == is_lost
    assert told.startswith(b"x") != is_lost


def test_output_that_came_after_a_log_was_asked_for_is_not_lost() -> None:
    first = stamp(AT, 3)
    beginning = Beginning(AT, 1, lambda: b"%s x\n" % first * 100_000)
    assert beginning.notice(first) == b""
    assert replace(beginning, age=2.5).notice(first) == BEHEADED % 3


@pytest.mark.parametrize(
    ("age", "lines", "is_lost"), [(4, 9, False), (4, 10**5, True), (1, 10**5, False)]
)
def test_a_log_that_was_empty_when_it_was_asked_for_lost_something_only_if_it_is_written_fast(
    age: float, lines: int, is_lost: bool
) -> None:
    """So fast that a file was full, and rotated away, by then."""
    first = stamp(AT, 7)
    beginning = Beginning(AT, age, lambda: b"%s some words\n" % first * lines)
    assert beginning.notice(first) == (BEHEADED % 7 if is_lost else b"")


def test_where_a_node_does_not_say_how_fast_a_log_is_written_it_may_have_lost_something() -> None:
    assert Beginning(AT, 20, bytes).notice(stamp(AT, 3)) == BEHEADED % 3


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_tail_that_was_rotated_away_is_told_once(
    end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engines.kubernetes.logs.follower.SETTLING", 0.05)
    nodes, uid = Nodes(), uuid4()
    whole = line(1, b"one")[:-1] + end
    nodes.log = whole
    streams, cursors = streams_of(nodes), dict[Log, str]()
    streams.on_change(uid, nodes.snapshot("up", 1))
    read(streams, uid, cursors)
    wait_for(lambda: nodes.answers and nodes.answers[0].sent == len(whole))
    told = collected(streams, uid, cursors, until=b"one\n") if end else b""
    nodes.log = b""  # the rest of it is in files that were rotated away
    streams.on_change(uid, nodes.snapshot("up", 1, ended="2026-01-01T00:00:40Z"))
    nodes.answers[0].shutdown()
    told += collected(streams, uid, cursors)
    assert told == b"one\n" + ROTATED
    again = streams_of(nodes)
    again.on_change(uid, nodes.snapshot("up", 1, ended="2026-01-01T00:00:40Z"))
    assert collected(again, uid, cursors) == b""


def test_a_tail_that_is_still_there_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engines.kubernetes.logs.follower.SETTLING", 0.05)
    nodes, uid = Nodes(), uuid4()
    nodes.log = line(1, b"one") + line(2, b"the end")[:-1]
    streams = streams_of(nodes)
    streams.on_change(uid, nodes.snapshot("up", 1, ended=AT))
    assert collected(streams, uid, {}) == b"one\nthe end"


def test_a_log_that_was_rotated_when_all_of_it_was_read_says_nothing() -> None:
    reader = Reader(LogCursor())
    told = reader.feed(line(31, b"the end"))
    reader.connect(had_all=True)
    assert told + reader.flush("2026-01-01T00:00:33Z") == b"the end\n"
    reader.connect(had_all=True)
    assert reader.flush("2026-01-01T00:00:35Z") == ROTATED


def test_an_empty_file_in_place_of_the_one_that_was_read_proves_nothing() -> None:
    reader = Reader(LogCursor())
    reader.feed(line(31, b"cut here"))
    reader.connect()
    assert not reader.has_all
    assert reader.flush("2026-01-01T00:00:33Z") == ROTATED


def test_a_log_of_which_not_all_was_read_may_lack_its_tail() -> None:
    reader = Reader(LogCursor())
    reader.feed(line(31, b"the end"))
    reader.connect()
    assert reader.flush("2026-01-01T00:00:33Z") == ROTATED


def test_words_of_the_node_instead_of_the_log_are_no_sign_of_a_rotation() -> None:
    reader = Reader(LogCursor())
    reader.feed(line(1, b"one"))
    reader.connect()
    reader.feed(b"unable to retrieve container logs for containerd://4c36")
    assert reader.pause() + reader.flush("") == b""


@pytest.mark.parametrize("end", ["cut", "of the kubelet", "of the container"])
def test_a_log_that_was_rotated_between_two_connections_says_so(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However short they were apart: nobody knows what the node had not sent yet, also where the
    answer came to an end. One that sent all of a container that ended had."""
    monkeypatch.setattr("engines.kubernetes.logs.follower.SETTLING", 0.05)
    nodes, uid = Nodes(), uuid4()
    nodes.log = line(1, b"one")
    streams, cursors = streams_of(nodes), dict[Log, str]()
    streams.on_change(uid, nodes.snapshot("up", 1))
    told = collected(streams, uid, cursors, until=b"one\n")
    nodes.log = line(2, b"two")
    (follower,) = streams._all()
    if end == "cut":
        with streams._lock:
            follower.cut()
    if end == "of the kubelet":
        monkeypatch.setattr("engines.kubernetes.logs.follower.PAUSE", (30.0, 30.0))
        nodes.answers[0].shutdown()
        wait_for(lambda: follower._whole_at)
    ended = ago(-60) if end == "of the kubelet" else "2026-01-01T00:00:03Z"
    streams.on_change(uid, nodes.snapshot("up", 1, ended=ended))
    nodes.end()
    told += collected(streams, uid, cursors)
    assert told == b"one\n" + (b"" if end == "of the container" else ROTATED) + b"two\n"


def test_a_burst_is_read_before_anybody_takes_it() -> None:
    nodes, uid = Nodes(), uuid4()
    nodes.log = line(1, b"x" * 100) * 80_000
    assert len(nodes.log) > 10 * ahead.OWN_BYTES
    streams, cursors = streams_of(nodes), dict[Log, str]()
    streams.on_change(uid, nodes.snapshot("up", 1))
    read(streams, uid, cursors)
    wait_for(lambda: nodes.answers and nodes.answers[0].sent == len(nodes.log))
    streams._close()
    assert streams._ahead.held == 0


def test_logs_that_nobody_takes_hold_no_more_than_all_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "SHARED_BYTES", 2 * 1024**2)
    nodes, uid = Nodes(), uuid4()
    nodes.log = line(1, b"x" * 100) * 40_000
    streams, cursors = streams_of(nodes), dict[Log, str]()
    streams.on_change(uid, nodes.snapshot("up", 3))
    read(streams, uid, cursors)
    most = 2 * 1024**2 + 3 * (ahead.OWN_BYTES + 64 * 1024)

    def is_still() -> bool:
        return all(one._pieces.is_full for one in streams._all()) and len(nodes.answers) == 3

    wait_for(is_still)
    assert streams._ahead.held <= most
    streams._close()
    wait_for(lambda: not streams._serving)
    assert streams._ahead.held == 0


def test_a_node_is_asked_whether_it_left_out_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engines.kubernetes.logs.rotation.FILE_BYTES", 0)
    nodes, uid = Nodes(started=ago(-5)), uuid4()  # nothing is missing at its head
    lines = [b"%s %d\n" % (stamp(nodes.started, 10 * n), n) for n in range(1, 4)]
    nodes.log, nodes.newest = b"".join(lines), b"".join(lines[1:])
    streams = streams_of(nodes)
    streams.on_change(uid, nodes.snapshot("up", 1))
    assert collected(streams, uid, {}, until=b"3\n") == b"1\n" + ROTATED + b"2\n3\n"
