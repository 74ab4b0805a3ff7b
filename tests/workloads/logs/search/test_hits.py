"""Searching a whole log: every line that matches is counted once, and walked to in order."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django import Settings

from tests.workloads.logs.parts import merged_parts
from workloads import logs
from workloads.logs.reading.lines import GRID
from workloads.logs.search import Hit, Hits, segments
from workloads.logs.text import plain_text

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
Place = tuple[int, int]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.LOG_STORE = tmp_path
    monkeypatch.setattr(segments, "SEGMENT", 64 * 1024)
    monkeypatch.setattr("workloads.logs.search.hits.SEGMENT", 64 * 1024)


def filled(*pieces: tuple[int, int, bytes]) -> list[logs.Stream]:
    """Streams of (second, rank, output) pieces."""
    workload = uuid.uuid4()
    for second, rank, output in pieces:
        stream = logs.Stream(workload, 1, 0, rank)
        logs.append(stream, output, at=NOW + timedelta(seconds=second))
    return logs.streams(workload)


def searched(streams: list[logs.Stream], text: str) -> Hits:
    hits = Hits(streams, text, unfinished=True)
    while not hits.is_done:
        hits.search(1)
    return hits


def walked(hits: Hits, go: str = "next") -> Iterator[Hit]:
    """Every hit once, from one end to the other."""
    hit = hits.step(None, go)
    for _ in range(hits.count):
        assert hit
        assert hits.step((hit.rank, hit.offset), "here") == hit
        yield hit
        hit = hits.step((hit.rank, hit.offset), go)


def expected(streams: list[logs.Stream], text: str) -> list[Place]:
    """By reading every line as a page shows it."""
    lines = merged_parts(streams)
    return [(one.rank, one.offset) for one in lines if text.lower() in plain_text(one.data).lower()]


def check(streams: list[logs.Stream], text: str) -> None:
    hits = searched(streams, text)
    places = expected(streams, text)
    assert hits.count == len(places)
    assert [(hit.number, hit.rank, hit.offset) for hit in walked(hits)] == [
        (number, *place) for number, place in enumerate(places, 1)
    ]
    assert [(hit.rank, hit.offset) for hit in walked(hits, "previous")] == places[::-1]


@hypothesis_settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    pieces=st.lists(
        st.tuples(
            st.integers(0, 3),
            st.lists(
                st.sampled_from(
                    ["ab", "Ä", "\n", "\r", "\r\n", "\x1b[1m", "\x1b]0;", "\a", "\0", "y" * 9000]
                ),
                max_size=9,
            ),
        ),
        min_size=1,
        max_size=20,
    ),
    text=st.sampled_from(["a", "AB", "ä", "Ä\x1b", "yy", "ba"]),
)
def test_every_line_that_shows_the_text_is_a_hit(
    pieces: list[tuple[int, list[str]]], text: str
) -> None:
    parts = ((n // 2, rank, "".join(texts).encode()) for n, (rank, texts) in enumerate(pieces))
    check(filled(*parts), text)


def test_lines_in_all_parts_of_a_large_log_are_hits() -> None:
    """Where one segment ends and the next one begins, too."""
    lines = [
        b"%06d %s\n" % (n, b"Needle" if n % 997 == 0 else b"hay " * (n % 30)) for n in range(9000)
    ]
    streams = filled(*((n, n % 3, b"".join(lines[n * 100 : n * 100 + 100])) for n in range(90)))
    assert logs.size(streams[0]) > 2 * segments.SEGMENT
    check(streams, "needle")


@pytest.mark.parametrize(
    "output",
    [
        b"x" * 300_000 + b"needle" + b"x" * 300_000 + b"needle",
        b"\0" * 200_000 + b"n\0e\0e\0d\0l\0e\0\n" + b"\0" * 200_000,
        b"\xff\xfe" * 90_000 + b"needle\n\xc3",
        b"\n" * 200_000 + b"needle",
    ],
    ids=["no line break", "NUL", "no UTF-8", "empty lines"],
)
def test_odd_output_is_searched_too(output: bytes) -> None:
    streams = filled((0, 0, output), (1, 1, b"no\nNEEDLE\n"))
    check(streams, "needle")
    assert searched(streams, "needle").count >= 2


@pytest.mark.parametrize("before", [b"", b"\x1b[31m", b"\0"], ids=["plain", "color", "NUL"])
@pytest.mark.parametrize("text", ["needle", "n\u00e4del"])
@pytest.mark.parametrize("parts", [2, 8], ids=["in a segment", "between segments"])
def test_a_match_that_goes_on_in_the_next_part_is_found(
    before: bytes, text: str, parts: int
) -> None:
    cut = parts * GRID
    hay = b"x" * (cut - 2 - len(before))
    line = before + hay + text.encode() + b"y" * (2 * GRID) + b"\n"
    hits = searched(filled((0, 0, line), (1, 0, b"hay\n")), text)
    assert [hit.offset for hit in walked(hits)] == [cut - GRID]
    assert hits.count == 1


def test_a_search_goes_on_where_the_last_request_ended() -> None:
    streams = filled((0, 0, b"needle\n" * 50_000), (0, 1, b"hay\n" * 50_000))
    shares = []
    for _ in range(99):
        hits = Hits(streams, "needle", unfinished=True)
        hits.search(0)
        shares.append(hits.searched)
        if hits.is_done:
            break
    assert len(shares) > 5
    assert shares == sorted(set(shares))
    assert shares[-1] == hits.size == 550_000
    assert hits.count == 50_000


def test_of_a_log_that_grows_only_what_is_new_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    (stream,) = streams = filled((0, 0, b"needle\n" * 50_000))
    searched(streams, "needle")
    numbers: list[int] = []
    count = segments.Segments.count

    def counted(self: segments.Segments, number: int) -> int:
        numbers.append(number)
        return count(self, number)

    monkeypatch.setattr(segments.Segments, "count", counted)
    assert searched(streams, "NEEDLE").count == 50_000
    assert numbers == []
    logs.append(stream, b"needle\n")
    assert searched(streams, "needle").count == 50_001
    assert numbers == [5]


def test_a_line_that_is_still_being_printed_is_no_hit_yet() -> None:
    streams = filled((0, 0, b"a\nneed"), (0, 1, b""))
    hits = Hits(streams, "need", unfinished=False)
    hits.search(1)
    assert (hits.count, hits.is_done, hits.step(None)) == (0, True, None)
    assert searched(streams, "need").count == 1


def test_a_workload_that_is_deleted_meanwhile_has_no_hits() -> None:
    streams = filled((0, 0, b"needle\n" * 50_000))
    hits = Hits(streams, "needle", unfinished=True)
    logs.remove(streams[0].workload_id)
    hits.search(1)
    assert hits.count == 0
