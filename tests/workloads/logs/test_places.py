"""Each start of a rank has its own stream, and each piece its cursor, whatever interrupts it."""

import uuid
from pathlib import Path

import pytest
from pytest_django import Settings

from engines.logs import Log
from workloads import logs
from workloads.logs import store

WORKLOAD = uuid.uuid4()


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, settings: Settings) -> None:
    settings.LOG_STORE = tmp_path
    logs.stream_of_log.cache_clear()


def place(origin: str, start: int, *, rank: int = 0, run: int = 1) -> int:
    """The attempt, as a process that has just started sees it."""
    logs.stream_of_log.cache_clear()
    return logs.stream_of_log(WORKLOAD, Log(run, rank, start, origin)).attempt


def test_a_pod_made_anew_goes_on_counting() -> None:
    assert [place("a", 0), place("a", 1), place("b", 0), place("b", 1)] == [0, 1, 2, 3]
    assert [place("a", 0), place("a", 1), place("b", 0), place("b", 1)] == [0, 1, 2, 3]
    assert place("c", 0, rank=1) == 0
    assert place("d", 0, run=2) == 0


def test_restarts_that_nobody_saw_keep_their_numbers() -> None:
    assert [place("a", 0), place("a", 3), place("b", 1), place("b", 0)] == [0, 3, 5, 4]


def test_attempts_of_a_rank_are_those_that_the_engine_counts() -> None:
    assert [place("", 4), place("", 2)] == [4, 2]
    assert logs.streams(WORKLOAD) == []


def kept() -> tuple[bytes, str]:
    stream = logs.stream_of_log(WORKLOAD, Log(1, 0, 0, "a"))
    return logs.read_output(stream, 0, 100), logs.engine_cursor(stream)


def keep(data: bytes, cursor: str) -> bool:
    log = Log(1, 0, 0, "a")
    stream = logs.stream_of_log(WORKLOAD, log)
    return logs.append_output(stream, log, data, offset=logs.size(stream), cursor=cursor)


def test_the_cursor_is_that_of_the_last_piece() -> None:
    assert kept() == (b"", "")
    for number in range(5):
        assert keep(b"x", f"after {number + 1}")
        assert kept() == (b"x" * (number + 1), f"after {number + 1}")


@pytest.mark.parametrize("where", ["_write_cursor", "_write"])
def test_a_piece_and_its_cursor_are_there_both_or_neither(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(b"one", "first")
    write = getattr(store, where)

    def killed(first: object, *rest: object) -> None:
        if where == "_write" and isinstance(first, Path) and first.suffix == ".log":
            write(first, *rest)
            return
        if where == "_write_cursor":
            write(first, *rest)  # it comes so far, and no further
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store, where, killed)
        with pytest.raises(KeyboardInterrupt):
            keep(b"two", "second")
    assert kept() == (b"one", "first")
    keep(b"two", "second")
    assert kept() == (b"onetwo", "second")


def test_the_log_of_each_rank_is_that_of_its_latest_start() -> None:
    place("a", 0), place("b", 0, rank=1), place("b", 1, rank=1)
    shown = logs.latest_streams(WORKLOAD, 1, 1)
    assert {rank: stream.attempt for rank, stream in shown.items()} == {0: 0, 1: 1}
    shown = logs.latest_streams(WORKLOAD, 1, 0)
    assert {rank: stream.attempt for rank, stream in shown.items()} == {0: 0, 1: 0}
