"""The store keeps what ranks print, whatever interrupts it."""

import os
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pytest_django import Settings

from workloads import logs
from workloads.logs.store import RECORD, Index

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def stream(tmp_path: Path, settings: Settings) -> logs.Stream:
    settings.LOG_STORE = tmp_path
    return logs.Stream(uuid.uuid4(), run=1, attempt=0, rank=2)


def whole(stream: logs.Stream) -> bytes:
    return logs.read_output(stream, 0, 10**9)


def test_pieces_of_a_log_follow_each_other(stream: logs.Stream) -> None:
    logs.append(stream, b"one\n")
    logs.append(stream, b"two\n")
    assert whole(stream) == b"one\ntwo\n"
    assert logs.read_output(stream, 4, 3) == b"two"
    assert logs.streams(stream.workload_id) == [stream]


@pytest.mark.parametrize("offset", [8, 9, 10**12])
def test_a_log_has_nothing_after_its_end(stream: logs.Stream, offset: int) -> None:
    logs.append(stream, b"one\ntwo\n")
    assert logs.read_output(stream, offset, 100) == b""


def test_a_piece_of_a_log_that_comes_twice_is_written_once(stream: logs.Stream) -> None:
    assert logs.append(stream, b"one\n", offset=0)
    assert not logs.append(stream, b"one\n", offset=0)
    assert logs.append(stream, b"two\n", offset=4)
    assert whole(stream) == b"one\ntwo\n"


def test_a_torn_piece_of_a_log_leaves_nothing(stream: logs.Stream) -> None:
    logs.append(stream, b"one\n")
    with stream.path.open("ab") as file:
        file.write(b"tw")  # killed before the index knew of it
    assert whole(stream) == b"one\n"
    logs.append(stream, b"two\n")
    assert whole(stream) == b"one\ntwo\n"


@pytest.mark.parametrize("torn", range(1, RECORD.size))
def test_a_torn_index_record_does_not_shift_the_next(stream: logs.Stream, torn: int) -> None:
    logs.append(stream, b"one\n")
    logs.append(stream, b"two\n")
    os.truncate(stream.index_path, RECORD.size + torn)
    assert whole(stream) == b"one\n"
    logs.append(stream, b"three\n")
    assert whole(stream) == b"one\nthree\n"
    assert stream.index_path.stat().st_size == 2 * RECORD.size


def test_an_index_ahead_of_the_data_is_not_believed(stream: logs.Stream) -> None:
    """After a power failure the smaller file may have reached the disk, the larger not."""
    for piece in (b"one\n", b"two\n", b"three\n"):
        logs.append(stream, piece)
    os.truncate(stream.path, 6)
    assert whole(stream) == b"one\n"
    logs.append(stream, b"four\n")
    assert whole(stream) == b"one\nfour\n"


def test_the_index_knows_when_each_byte_came(stream: logs.Stream) -> None:
    for number in range(9):
        logs.append(stream, b"xy", at=NOW + timedelta(seconds=number))
    with Index(stream) as index:
        for offset in [*range(18), 3, 17, 0]:
            assert index.time_at(offset) == NOW + timedelta(seconds=offset // 2)


def test_time_never_goes_back_when_the_clock_does(stream: logs.Stream) -> None:
    logs.append(stream, b"a", at=NOW)
    logs.append(stream, b"b", at=NOW - timedelta(hours=1))
    with Index(stream) as index:
        assert index.time_at(1) == NOW


def test_removing_the_logs_of_a_workload_leaves_nothing_and_twice_is_fine(
    stream: logs.Stream,
) -> None:
    logs.append(stream, b"a")
    logs.remove(stream.workload_id)
    logs.remove(stream.workload_id)
    assert logs.streams(stream.workload_id) == []
    assert logs.size(stream) == 0
