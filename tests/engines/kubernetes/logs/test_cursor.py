"""A log read in pieces, cut anywhere and asked for again, comes once and in full. Pure."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from engines.kubernetes.logs.cursor import LogCursor
from engines.kubernetes.logs.reader import HELD_BACK_BYTES, ROTATED, Reader

START = datetime(2026, 1, 1, tzinfo=UTC)
Record = tuple[bytes, bytes]


def stamp(nanoseconds: int) -> bytes:
    at = START + timedelta(seconds=nanoseconds // 10**9)
    return b"%s.%09dZ" % (at.strftime("%Y-%m-%dT%H:%M:%S").encode(), nanoseconds % 10**9)


class Node:
    """Writes down records, and answers as a kubelet does."""

    def __init__(self, records: list[Record]) -> None:
        self.records = records

    def answer(self, since: str) -> bytes:
        """From the records of that second on, even if that is in the middle of a line."""
        told = b""
        at_start = True
        for time, text in self.records:
            if time[:19] >= since[:19].encode():
                told += (time + b" " if at_start else b"") + text
            at_start = text.endswith(b"\n")
        return told


def records(chance: random.Random) -> list[Record]:
    """Lines and parts of lines, some at the same nanosecond, some a bit earlier than the last."""
    at = 10**11
    found = []
    steps = [0, 0, 1, 1, 4 * 10**8, -1, -2, 15 * 10**8, -9 * 10**8]
    for _ in range(chance.randint(1, 30)):
        step = chance.choice(steps)
        if step < -10:
            steps.remove(step)
        at += step
        text = bytes(chance.choice(b"ab\r \xff") for _ in range(chance.choice([0, 1, 3, 60, 1500])))
        is_part = chance.random() < 0.2 and text
        found.append((stamp(at), text if is_part else text + b"\n"))
        at = max(at, 10**11 + 1) if is_part else at
        steps = [one for one in steps if one >= 0] if is_part else steps
    return found


def read(node: Node, chance: random.Random, *, cuts: int) -> bytes:
    """In pieces of any size; each answer is cut somewhere, and half of them by a new process."""
    got = b""
    reader = Reader(LogCursor())
    for turn in range(cuts + 1):
        reader.connect()
        answer = node.answer(reader.cursor.since)
        end = chance.randint(0, len(answer)) if turn < cuts else len(answer)
        at = 0
        while at < end:
            size = min(chance.choice([1, 5, 40, 1000]), end - at)
            got += reader.feed(answer[at : at + size])
            at += size
        if end == len(answer):
            got += reader.end()
        if chance.random() < 0.5 and turn < cuts:
            reader = Reader(LogCursor.parse(str(reader.cursor)))
    return got + reader.finish()


@pytest.mark.parametrize("seed", range(100))
def test_a_log_read_in_pieces_is_what_was_written(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 -- no secret
    node = Node(records(chance))
    assert read(node, chance, cuts=8) == b"".join(text for _, text in node.records)


def test_after_a_rotation_a_line_and_then_the_whole_new_file_come() -> None:
    reader = Reader(LogCursor())
    assert reader.feed(stamp(1) + b" one\n" + stamp(2) + b" two\n") == b"one\ntwo\n"
    again = Reader(LogCursor.parse(str(reader.cursor)))
    told = again.feed(stamp(3) + b" three\n" + stamp(3) + b" four\n")
    assert told == ROTATED + b"three\nfour\n"
    once_more = Reader(LogCursor.parse(str(again.cursor)))
    assert (
        once_more.feed(stamp(3) + b" three\n" + stamp(3) + b" four\n" + stamp(4) + b" 5\n")
        == b"5\n"
    )


def test_a_line_that_was_rotated_away_unfinished_is_ended() -> None:
    long = b"a" * 2000
    reader = Reader(LogCursor())
    got = reader.feed(stamp(1) + b" " + long)
    after = Reader(LogCursor.parse(str(reader.cursor)))
    rest = b"b" * 3000
    told = after.feed(stamp(3) + b" " + rest)
    assert (got + told).startswith(got + b"\n" + ROTATED + b"b")
    end = Reader(LogCursor.parse(str(after.cursor)))
    whole = got + told + end.feed(stamp(3) + b" " + rest + b"\n")
    assert whole == got + b"\n" + ROTATED + rest + b"\n"


def test_clocks_may_be_set_back() -> None:
    times = [stamp(10**11), stamp(50 * 10**9), stamp(51 * 10**9), stamp(52 * 10**9)]
    node = Node([(time, b"%d\n" % n) for n, time in enumerate(times)])
    reader = Reader(LogCursor())
    first = reader.feed(node.answer("")[:70])  # up to the first after the step
    again = Reader(LogCursor.parse(str(reader.cursor)))
    assert first + again.feed(node.answer(again.cursor.since)) == b"0\n1\n2\n3\n"


def test_times_that_the_program_printed_are_its_own() -> None:
    line = stamp(4) + b" INFO at " + stamp(3) + b" it began\n"
    assert Reader(LogCursor()).feed(stamp(5) + b" " + line) == line


def test_nothing_of_an_answer_that_is_refused_is_output() -> None:
    """Not even the unfinished line at its end."""

    def refuse(first: bytes) -> bool:
        raise LookupError(first)

    reader = Reader(LogCursor())
    assert reader.feed(stamp(2) + b" two\n") == b"two\n"
    reader.connect(refuse)
    assert reader.feed(stamp(1) + b" one says" + b"\n" + stamp(9) + b" of others!") == b""
    with pytest.raises(LookupError):
        reader.feed(b"\n" + stamp(10) + b" new\n")
    reader.connect(refuse)
    assert reader.feed(stamp(9) + b" of others!") == b""
    assert reader.give_up(has_all=True) == b""


def test_an_answer_that_contains_the_position_needs_no_check() -> None:
    def refuse(first: bytes) -> bool:
        raise LookupError(first)

    reader = Reader(LogCursor())
    reader.feed(stamp(2) + b" two\n")
    reader.connect(refuse)
    assert reader.feed(stamp(2) + b" two\n" + stamp(3) + b" three\n") == b"three\n"


@pytest.mark.parametrize("text", [b"", b"no newline", b"whole\n"])
@pytest.mark.parametrize(
    "trouble",
    [
        b'rpc error: code = NotFound desc = "4c36": not found',
        b"failed to create fsnotify watcher: too many open files",
    ],
    ids=["removed", "nobody may follow"],
)
def test_troubles_of_the_node_are_no_output(text: bytes, trouble: bytes) -> None:
    reader = Reader(LogCursor())
    got = reader.feed(stamp(1) + b" first\n" + (stamp(2) + b" " + text if text else b""))
    got += reader.feed(trouble)
    assert got + reader.end() == b"first\n" + text
    assert reader.has_message
    assert reader.is_removed is trouble.startswith(b"rpc")


def test_a_long_line_without_end_is_told_as_it_comes() -> None:
    reader = Reader(LogCursor())
    told = reader.feed(stamp(1) + b" " + b"." * 16_384)
    assert 16_384 - HELD_BACK_BYTES - 40 <= len(told) < 16_384


def test_reading_a_log_takes_bounded_memory() -> None:
    reader = Reader(LogCursor())
    reader.feed(stamp(1) + b" ")
    for _ in range(100):
        reader.feed(b"." * 65_536)
    assert len(reader._unread) <= HELD_BACK_BYTES
    assert len(str(reader.cursor)) < 100
