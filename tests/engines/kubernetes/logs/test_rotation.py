"""What a node rotated away is told by a line, and little of it is. No cluster."""

from uuid import UUID, uuid4

import pytest

from engines.kubernetes.logs import ahead
from engines.kubernetes.logs.cursor import LogCursor, Reader
from engines.kubernetes.logs.rotation import BEHEADED, ROTATED
from engines.kubernetes.logs.streams import LogStreams
from engines.logs import Log
from tests.engines.kubernetes.logs.nodes import AT, Nodes, read, streams_of
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
    nodes.text = line(31, b"step 900,001")
    streams = streams_of(nodes)
    streams.on_change(uid, nodes.snapshot("up", 1))
    told = collected(streams, uid, {}, until=b"step")
    assert told == BEHEADED % 31 + b"step 900,001\n"


def test_a_log_that_was_read_from_the_start_says_nothing_however_late_it_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engines.kubernetes.logs.rotation.EARLY", 10**9)
    nodes, uid = Nodes(), uuid4()
    nodes.text = line(31, b"loaded")
    streams = streams_of(nodes)
    streams.on_change(uid, nodes.snapshot("up", 1))
    assert collected(streams, uid, {}, until=b"loaded") == b"loaded\n"


def test_a_log_that_begins_with_its_container_lost_nothing() -> None:
    reader = Reader(LogCursor())
    reader.connect(began=AT)
    assert reader.feed(line(2, b"one") + line(50, b"two")) == b"one\ntwo\n"
    later = Reader(LogCursor.of(str(reader.cursor)))
    later.connect(began=AT)
    assert later.feed(line(50, b"two") + line(55, b"three")) == b"three\n"


@pytest.mark.parametrize(("size", "is_told"), [(100, False), (40_000, True)])
def test_a_log_that_begins_early_lost_something_only_if_it_was_written_fast(
    size: int, is_told: bool
) -> None:
    reader = Reader(LogCursor())
    reader.connect(began=AT)
    text = (b"x" * 30 + b"\n") * (size // 30)
    stamped = b"".join(b"2026-01-01T00:00:04.000000000Z " + one for one in text.splitlines(True))
    told = reader.feed(stamped)
    assert told == (BEHEADED % 4 if is_told else b"") + text


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_tail_that_was_rotated_away_is_told_once(
    end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engines.kubernetes.logs.follower.SETTLING", 0.05)
    nodes, uid = Nodes(), uuid4()
    whole = line(1, b"one")[:-1] + end
    nodes.text = whole
    streams, cursors = streams_of(nodes), dict[Log, str]()
    streams.on_change(uid, nodes.snapshot("up", 1))
    read(streams, uid, cursors)
    wait_for(lambda: nodes.answers and nodes.answers[0].sent == len(whole))
    told = collected(streams, uid, cursors, until=b"one\n") if end else b""
    nodes.text = b""  # the rest of it is in files that were rotated away
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
    nodes.text = line(1, b"one") + line(2, b"the end")[:-1]
    streams = streams_of(nodes)
    streams.on_change(uid, nodes.snapshot("up", 1, ended=AT))
    assert collected(streams, uid, {}) == b"one\nthe end"


def test_a_log_that_was_rotated_when_all_of_it_was_read_says_nothing() -> None:
    reader = Reader(LogCursor())
    told = reader.feed(line(31, b"the end"))
    reader.connect(was_away=False)
    assert told + reader.flush("2026-01-01T00:00:33Z") == b"the end\n"
    reader.connect(was_away=True)
    assert reader.flush("2026-01-01T00:00:33Z") == ROTATED


def test_words_of_the_node_instead_of_the_log_are_no_sign_of_a_rotation() -> None:
    reader = Reader(LogCursor())
    reader.feed(line(1, b"one"))
    reader.connect()
    reader.feed(b"unable to retrieve container logs for containerd://4c36")
    assert reader.pause() + reader.flush("") == b""


@pytest.mark.parametrize(("pause", "is_doubtful"), [(9, True), (1, True), (9, False)])
def test_a_file_that_a_node_left_out_while_it_was_kept_waiting_is_told(
    pause: int, is_doubtful: bool
) -> None:
    reader = Reader(LogCursor())
    told = reader.feed(line(1, b"one"))
    reader.is_doubtful = is_doubtful
    told += reader.feed(line(1 + pause, b"two") + line(2 + pause, b"three"))
    gap = ROTATED if is_doubtful and pause > 5 else b""
    assert told == b"one\n" + gap + b"two\nthree\n"


def test_a_burst_is_read_before_anybody_takes_it() -> None:
    nodes, uid = Nodes(), uuid4()
    nodes.text = line(1, b"x" * 100) * 80_000
    assert len(nodes.text) > 10 * ahead.OWN_BYTES
    streams, cursors = streams_of(nodes), dict[Log, str]()
    streams.on_change(uid, nodes.snapshot("up", 1))
    read(streams, uid, cursors)
    wait_for(lambda: nodes.answers and nodes.answers[0].sent == len(nodes.text))
    streams._close()
    assert streams._ahead.held == 0


def test_logs_that_nobody_takes_hold_no_more_than_all_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "SHARED_BYTES", 2 * 1024**2)
    nodes, uid = Nodes(), uuid4()
    nodes.text = line(1, b"x" * 100) * 40_000
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
