"""Whatever a node leaves out of a log that it rotates, a line says so. No cluster."""

import random

import pytest

from engines.kubernetes.logs import rotation
from engines.kubernetes.logs.cursor import LogCursor
from engines.kubernetes.logs.reader import Reader
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


@pytest.fixture
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as those of the played node."""
    monkeypatch.setattr(rotation, "FILE_BYTES", FULL * 30 // 2)
    monkeypatch.setattr(rotation, "LITTLE", FULL * 30 // 100)


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_output_that_a_busy_node_leaves_out_is_told_wherever_it_was(seed: int, old: bool) -> None:
    chance = random.Random(seed)  # noqa: S311 -- no secret
    kubelet = Kubelet(chance, old=old, busy=0.2)
    assert untold(collected(kubelet), kubelet.written) == []


@pytest.mark.usefixtures("small_files")
def test_of_a_node_that_keeps_up_everything_comes_and_no_line_says_otherwise() -> None:
    kubelet = Kubelet(random.Random(1), old=False, busy=0)  # noqa: S311 -- no secret
    kubelet.longest = 1.0
    text = collected(kubelet)
    assert kubelet.before, "it rotated the log"
    assert text == b"".join(b"%d\n" % number for number in range(kubelet.written))


def test_a_pause_of_a_program_is_no_gap_where_one_file_holds_both_lines() -> None:
    reader = reader_of(Followed(lambda: line(0, b"zero"), BEFORE))
    assert reader.feed(line(1, b"one") + line(10, b"two") + line(11, b"three")) == (
        b"one\ntwo\nthree\n"
    )


def test_a_file_that_was_left_out_is_told_once() -> None:
    reader = reader_of(Followed(lambda: line(10, b"two"), BEFORE))
    told = reader.feed(line(1, b"one")) + reader.feed(line(10, b"two") + line(20, b"three"))
    assert told == b"one\n" + ROTATED + b"two\nthree\n"  # the next file is not full yet


@pytest.mark.parametrize("begins", [1, 15])
def test_a_node_that_does_not_answer_is_left_in_peace_and_what_it_left_out_is_told(
    begins: int,
) -> None:
    """Once where it fails, and when it answers, if it has begun another file since."""
    answers, now = [b"", b"", line(begins, b"")], [BEFORE]
    reader = reader_of(Followed(lambda: answers.pop(0), BEFORE, lambda: now[0]))
    told = reader.feed(line(1, b"one") + line(10, b"two") + line(20, b"three"))
    assert (told, len(answers)) == (b"one\n" + ROTATED + b"two\nthree\n", 2)
    now[0] += rotation.PAUSE[1]
    assert reader.feed(line(30, b"four") + line(40, b"five")) == b"four\nfive\n"
    now[0] += rotation.PAUSE[1]
    is_told = begins > 1
    assert reader.feed(line(50, b"six")) == ROTATED * is_told + b"six\n"


def test_a_node_is_asked_about_no_line_that_its_last_answer_covers() -> None:
    """However many of them waited to be read."""
    asked: list[int] = []

    def newest() -> bytes:
        asked.append(1)
        return line(1, b"one")

    reader = reader_of(Followed(newest, BEFORE, lambda: BEFORE + 45))
    reader.feed(b"".join(line(second, b"text") for second in (1, 4, 8, 13, 19, 26, 34, 43)))
    assert len(asked) == 1


def test_a_node_is_asked_once_about_a_slow_program_until_it_pauses_longer_or_writes_much() -> None:
    asked: list[int] = []

    def newest() -> bytes:
        asked.append(1)
        return line(0, b"zero")

    reader = reader_of(Followed(newest, BEFORE, lambda: BEFORE))
    reader.feed(b"".join(line(second, b"step") for second in range(1, 40, 4)))
    assert len(asked) == 1
    reader.feed(line(45, b"step"))
    assert len(asked) == 2, "after 8 seconds instead of 4"
    reader.feed(line(46, b"x" * rotation.LITTLE) + line(50, b"step"))
    assert len(asked) == 3


def test_a_node_is_not_asked_about_a_file_that_it_has_just_begun() -> None:
    """Though all of it was followed, and no gap led to it."""
    begins = [line(15, b""), line(22, b"")]
    reader = reader_of(Followed(lambda: begins.pop(0), BEFORE, lambda: BEFORE))
    told = reader.feed(line(15, b"a") + line(20, b"b"))
    told += reader.feed(line(22, b"c") + line(30, b"d") + line(40, b"e") + line(50, b"f"))
    assert (told, begins) == (b"a\nb\nc\nd\ne\nf\n", [])


def test_a_file_that_a_slow_clock_dates_before_the_question_is_looked_at() -> None:
    reader = reader_of(Followed(lambda: line(9, b"two"), BEFORE + 9 + rotation.SLACK))
    assert reader.feed(line(1, b"one") + line(9, b"two")) == b"one\n" + ROTATED + b"two\n"


def test_a_line_that_was_left_unfinished_is_ended_before_ours() -> None:
    reader = reader_of(Followed(lambda: b"", BEFORE))
    told = reader.feed(line(1, b"one")[:-1]) + reader.feed(line(10, b"two"))
    assert told == b"one\n" + ROTATED + b"two\n"


@pytest.mark.parametrize(
    ("size", "asked_at"),
    [(0, BEFORE), (rotation.FILE_BYTES, BEFORE + 60)],
    ids=["no file was full", "it was written before"],
)
def test_no_node_is_asked_where_it_cannot_have_left_out_a_file(size: int, asked_at: float) -> None:
    def newest() -> bytes:
        raise AssertionError

    reader = reader_of(Followed(newest, asked_at), size=size)
    assert reader.feed(line(1, b"one") + line(50, b"two")) == b"one\ntwo\n"


def test_a_file_that_a_node_opens_twice_comes_once() -> None:
    reader = reader_of(Followed(lambda: line(10, b"two"), BEFORE))
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
