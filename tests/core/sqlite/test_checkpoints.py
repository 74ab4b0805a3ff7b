"""What SQLite logged comes into its file while others write."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from core.sqlite import checkpoints
from tests.waiting import wait_for


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a #1 %.sqlite3"


@pytest.fixture
def writer(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("CREATE TABLE lines (text)")
        connection.commit()
        yield connection


def in_the_file(path: Path) -> int:
    """How many lines are in the file itself, whatever its log says."""
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM lines").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def test_a_checkpoint_waits_for_no_writer(path: Path, writer: sqlite3.Connection) -> None:
    writer.execute("INSERT INTO lines VALUES ('committed')")
    writer.commit()
    writer.execute("INSERT INTO lines VALUES ('not yet')")
    assert in_the_file(path) == 0
    checkpoints.checkpoint(path)
    assert in_the_file(path) == 1


def test_the_log_is_brought_in_for_as_long_as_the_process_lives(
    path: Path, writer: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "EVERY_SECONDS", 0.01)
    checkpoints.start_checkpoints({"ENGINE": "django.db.backends.sqlite3", "NAME": path})
    for lines in (1, 2):
        writer.execute("INSERT INTO lines VALUES ('a')")
        writer.commit()
        wait_for(partial(_has, path, lines), message="the line to be in the file")


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError):
        checkpoints.checkpoint(tmp_path / "none.sqlite3")
    assert list(tmp_path.iterdir()) == []


def _has(path: Path, lines: int) -> bool:
    return in_the_file(path) == lines
