"""The lines of several ranks, in the order in which they came, a window at a time."""

import gc
import tracemalloc
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django import Settings

from tests.workloads.logs.parts import merged_parts
from workloads import logs
from workloads.logs.reading import merge
from workloads.logs.reading.lines import LONGEST, Line
from workloads.logs.search import Hits

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def store(tmp_path: Path, settings: Settings) -> Path:
    settings.LOG_STORE = tmp_path
    return tmp_path


def filled(*pieces: tuple[int, int, str]) -> list[logs.Stream]:
    """Streams of (second, rank, text) pieces."""
    workload = uuid.uuid4()
    for second, rank, text in pieces:
        stream = logs.Stream(workload, 1, 0, rank)
        logs.append(stream, text.encode(), at=NOW + timedelta(seconds=second))
    return logs.streams(workload)


def told(lines: list[Line]) -> str:
    return " ".join(f"{line.rank}:{line.data.decode().strip()}" for line in lines)


def test_lines_come_by_time_then_by_rank() -> None:
    streams = filled((0, 1, "b\n"), (0, 0, "a\nc\n"), (2, 0, "e\n"), (1, 1, "d\n"))
    expected = "0:a 0:c 1:b 1:d 0:e"
    assert told(merge.window_after(streams, {}).lines) == expected
    assert told(merge.last_window(streams).lines) == expected
    assert told(list(merged_parts(streams))) == expected


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_windows_meet_in_both_directions(limit: int) -> None:
    streams = filled(*((n // 3, n % 3, f"{n}\n") for n in range(40)))
    expected = told(merge.window_after(streams, {}).lines)
    forward = []
    cursor = merge.Cursor()
    while (window := merge.window_after(streams, cursor, limit=limit)).lines:
        forward += window.lines
        cursor = merge.decode_cursor(merge.encode_cursor(window.end)) or {}
    assert told(forward) == expected
    window = merge.last_window(streams, limit=limit)
    backward: list[Line] = []
    while window.lines:
        backward = window.lines + backward
        window = merge.window_before(streams, window.start, limit=limit)
    assert told(backward) == expected


@hypothesis_settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    pieces=st.lists(
        st.tuples(st.integers(0, 2), st.text(alphabet="ab\n", min_size=1, max_size=12)),
        max_size=25,
    ),
    limit=st.integers(1, 5),
)
def test_no_line_is_lost_or_told_twice(pieces: list[tuple[int, str]], limit: int) -> None:
    streams = filled(*((n, rank, text) for n, (rank, text) in enumerate(pieces)))
    window = merge.last_window(streams, limit=limit, unfinished=True)
    parts = {stream.rank: [] for stream in streams}  # type: dict[int, list[bytes]]
    while window.lines:
        for line in reversed(window.lines):
            parts[line.rank].insert(0, line.data)
        window = merge.window_before(streams, window.start, limit=limit)
    for stream in streams:
        assert b"".join(parts[stream.rank]) == logs.read_output(stream, 0, 10**6)


def test_a_line_that_is_still_being_printed_waits() -> None:
    streams = filled((0, 0, "whole\nhal"))
    window = merge.last_window(streams)
    assert told(window.lines) == "0:whole"
    logs.append(streams[0], b"f\n", at=NOW)
    assert told(merge.window_after(streams, window.end).lines) == "0:half"
    assert told(merge.last_window(filled((0, 0, "a\nb")), unfinished=True).lines) == "0:a 0:b"


def test_a_rank_that_joins_later_is_told_too() -> None:
    streams = filled((0, 0, "a\n"))
    cursor = merge.last_window(streams).end
    late = logs.Stream(streams[0].workload_id, 1, 0, 7)
    logs.append(late, b"late\n")
    assert told(merge.window_after([*streams, late], cursor).lines) == "7:late"


@pytest.mark.parametrize(
    "text", ["x" * (3 * LONGEST + 5), "x" * LONGEST + "\n" + "y" * 70_000 + "\nz"]
)
def test_a_line_without_end_is_told_in_parts(text: str) -> None:
    streams = filled((0, 0, text))
    for window in (
        merge.window_after(streams, {}, unfinished=True),
        merge.last_window(streams, unfinished=True),
    ):
        assert b"".join(line.data for line in window.lines).decode() == text
        assert max(len(line.data) for line in window.lines) <= LONGEST


def test_a_large_log_costs_no_more_memory_than_a_small_one(tmp_path: Path) -> None:
    streams = [logs.Stream(uuid.uuid4(), 1, 0, rank) for rank in range(2)]
    piece = b"".join(b"step %06d loss 0.1234\n" % n for n in range(10_000))
    for stream in streams:
        for _ in range(400):
            logs.append(stream, piece)
    assert sum(stream.path.stat().st_size for stream in streams) > 180_000_000
    # The least of three: whatever else this process does meanwhile is counted too.
    assert any(peak_of_reading(streams) < 8_000_000 for _ in range(3))


def peak_of_reading(streams: list[logs.Stream]) -> int:
    """The most bytes that were held at once while windows were read, searched and followed."""
    gc.collect()
    tracemalloc.start()
    try:
        window = merge.last_window(streams)
        Hits(streams, "no such line", unfinished=True).search(1)
        window = merge.window_after(streams, {0: 50_000_000, 1: 70_000_000})
        assert len(window.lines) == merge.WINDOW
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", ["", "x", "0.", "0.1.2", "-1.5", "0.-3", "a.b", "0.1k;"])
def test_a_damaged_cursor_is_none(text: str) -> None:
    assert merge.decode_cursor(text) is None


def test_a_cursor_beyond_the_end_is_at_the_end() -> None:
    """And is found at once, however far away it is."""
    streams = filled((0, 0, "a\nb\n"))
    assert told(merge.window_before(streams, {0: 36**12}).lines) == "0:a 0:b"
