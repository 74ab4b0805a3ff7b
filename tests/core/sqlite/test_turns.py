"""Transactions wait for their turn to write, and for no longer than they may."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from django.db import OperationalError

from config.env import env_database
from core.sqlite.base import DatabaseWrapper
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db  # connections of its own, which are let through only so
PATIENCE_MS = 200


def connect(path: Path) -> DatabaseWrapper:
    settings = env_database("NO_SUCH_VARIABLE", default=path)
    usual = {"ATOMIC_REQUESTS": False, "AUTOCOMMIT": True, "CONN_MAX_AGE": 0, "TIME_ZONE": None}
    health = {"CONN_HEALTH_CHECKS": False}
    return DatabaseWrapper({**usual, **health, **settings}, "turns")


def write(path: Path, text: str) -> None:
    database = connect(path)
    database.connect()
    database._start_transaction_under_autocommit()
    database.connection.execute("INSERT INTO line VALUES (?)", [text])
    database.connection.execute("COMMIT")
    database.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "turns.sqlite3"


@pytest.fixture
def other(path: Path) -> Iterator[sqlite3.Connection]:
    """Somebody else who writes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE line (text)")
        yield connection


def lines(connection: sqlite3.Connection) -> set[str]:
    return {text for (text,) in connection.execute("SELECT text FROM line")}


def test_transactions_that_wait_write_once_the_other_is_done(
    path: Path, other: sqlite3.Connection
) -> None:
    other.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(3) as pool:
        turns = [pool.submit(write, path, text) for text in "abc"]
        other.execute("INSERT INTO line VALUES ('first')")
        assert not [turn for turn in turns if turn.done()]
        other.execute("COMMIT")
        wait_for(lambda: all(turn.done() for turn in turns), 10, "every turn")
        assert [turn.result() for turn in turns] == [None] * 3
    assert lines(other) == {"first", "a", "b", "c"}


def test_whoever_waited_in_vain_is_told_and_waits_as_long_the_next_time(
    path: Path, other: sqlite3.Connection
) -> None:
    database = connect(path)
    database.connect()
    database.connection.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(OperationalError, match="database is locked"):
        database._start_transaction_under_autocommit()
    (patience,) = database.connection.execute("PRAGMA busy_timeout").fetchone()
    assert patience == PATIENCE_MS
    database.close()
