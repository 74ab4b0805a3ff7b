"""Whatever a node leaves out of a log that it rotates, a line says so. No cluster."""

import random

import pytest

from engines.kubernetes.logs import rotation
from engines.kubernetes.logs.cursor import LogCursor, Reader
from engines.kubernetes.logs.rotation import ROTATED, Followed
from tests.engines.kubernetes.logs.kubelets import FULL, Collector, Kubelet

SECONDS = 120
BEFORE = 1767225600.0  # seconds since 1970 of the first line


def line(seconds: int, text: bytes) -> bytes:
    return b"2026-01-01T00:00:%02d.000000000Z %s\n" % (seconds, text)


def reader_of(followed: Followed, *, size: int = rotation.FILE_BYTES) -> Reader:
    """One that goes on in a long log."""
    reader = Reader(LogCursor(size=size))
    reader.connect(followed=followed)
    return reader


def untold(text: bytes, written: int) -> list[tuple[int, int]]:
    """Where numbers are missing without a word, or come twice."""
    wrong, expected, is_told = [], 0, False
    for row in text.splitlines(keepends=True):
        if row == ROTATED:
            is_told = True
        else:
            number = int(row)
            if number < expected or (number > expected and not is_told):
                wrong.append((expected, number))
            expected, is_told = number + 1, False
    return wrong if expected == written or is_told else [*wrong, (expected, written)]


def collected(kubelet: Kubelet) -> bytes:
    collector = Collector(kubelet)
    while kubelet.now < SECONDS:
        kubelet.step()
        collector.step()
    kubelet.end()
    return collector.end()


@pytest.fixture(autouse=True)
def small_files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "old" in request.fixturenames:
        monkeypatch.setattr(rotation, "FILE_BYTES", FULL * 30 // 2)


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_output_that_a_busy_node_leaves_out_is_told_wherever_it_was(seed: int, old: bool) -> None:
    chance = random.Random(seed)  # noqa: S311 -- no secret
    kubelet = Kubelet(chance, old=old, busy=0.2)
    assert untold(collected(kubelet), kubelet.written) == []


@pytest.mark.parametrize("old", [False])
def test_of_a_node_that_keeps_up_everything_comes_and_no_line_says_otherwise(old: bool) -> None:
    kubelet = Kubelet(random.Random(1), old=old, busy=0)  # noqa: S311 -- no secret
    kubelet.longest = 1.0
    text = collected(kubelet)
    assert kubelet.before, "it rotated the log"
    assert text == b"".join(b"%d\n" % number for number in range(kubelet.written))


def test_a_pause_of_a_program_is_no_gap_where_one_file_holds_both_lines() -> None:
    asked: list[bytes] = []

    def newest(stamp: bytes) -> bytes:
        asked.append(stamp)
        return line(1, b"one")[:64]

    reader = reader_of(Followed(newest, BEFORE))
    assert reader.feed(line(1, b"one") + line(10, b"two") + line(11, b"three")) == (
        b"one\ntwo\nthree\n"
    )
    assert asked == [line(1, b"")[:30]]


def test_a_file_that_was_left_out_is_told_once() -> None:
    reader = reader_of(Followed(lambda _: line(10, b"two"), BEFORE))
    told = reader.feed(line(1, b"one")) + reader.feed(line(10, b"two") + line(20, b"three"))
    assert told == b"one\n" + ROTATED + b"two\nthree\n"  # the next file is not full yet


def test_where_a_node_does_not_answer_it_may_have_left_out_a_file() -> None:
    reader = reader_of(Followed(lambda _: b"", BEFORE))
    told = reader.feed(line(1, b"one") + line(10, b"two") + line(20, b"three"))
    assert told == b"one\n" + ROTATED + b"two\n" + ROTATED + b"three\n"


def test_a_line_that_was_left_unfinished_is_ended_before_ours() -> None:
    reader = reader_of(Followed(lambda _: b"", BEFORE))
    told = reader.feed(line(1, b"one")[:-1]) + reader.feed(line(10, b"two"))
    assert told == b"one\n" + ROTATED + b"two\n"


@pytest.mark.parametrize(
    ("size", "asked_at"),
    [(0, BEFORE), (rotation.FILE_BYTES, BEFORE + 60)],
    ids=["no file was full", "it was written before"],
)
def test_no_node_is_asked_where_it_cannot_have_left_out_a_file(size: int, asked_at: float) -> None:
    def newest(stamp: bytes) -> bytes:
        raise AssertionError(stamp)

    reader = reader_of(Followed(newest, asked_at), size=size)
    assert reader.feed(line(1, b"one") + line(50, b"two")) == b"one\ntwo\n"


def test_a_file_that_a_node_opens_twice_comes_once() -> None:
    reader = reader_of(Followed(lambda _: line(10, b"two"), BEFORE))
    file = line(10, b"two") + line(11, b"three")
    told = reader.feed(line(1, b"one") + file) + reader.feed(file + line(12, b"four"))
    assert told == b"one\n" + ROTATED + b"two\nthree\nfour\n"


def test_a_place_says_how_much_of_its_file_was_read() -> None:
    reader = Reader(LogCursor())
    reader.feed(line(1, b"x" * 1000) + line(2, b"unfinished")[:-1])
    reader.pause()
    kept = LogCursor.of(str(reader.cursor))
    assert 1000 < kept.size < 1100
    assert LogCursor.of("2026 2026 3 4").size == rotation.FILE_BYTES  # kept before there was one
    assert LogCursor.of("2026 2026 3 4 lost").is_lost
    assert LogCursor.of("2026 2026 3 4 5 lost") == LogCursor(b"2026", b"2026", 3, 4, 5, True)
