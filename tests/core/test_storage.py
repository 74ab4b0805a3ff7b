"""Which errors mean that nothing can be saved, and what a look at the disk says."""

import errno
import os
import sqlite3
from pathlib import Path

import pytest
import redis
from django.db import DatabaseError, OperationalError, connection
from pytest_django import Settings

from core import storage
from core.broker.valkey import connection as connection_to_valkey
from core.storage import BUSY, DAMAGED, FAILING, FULL, READ_ONLY, StorageTrouble, Trouble
from tests.waiting import wait_for


def of_sqlite(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("as SQLite says it")
    error.sqlite_errorcode = code
    return error


def of_postgresql(state: str) -> Exception:
    error = Exception("as PostgreSQL says it")
    error.sqlstate = state  # type: ignore[attr-defined] # as psycopg's have it
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (of_sqlite(sqlite3.SQLITE_FULL), FULL),
        (of_sqlite(sqlite3.SQLITE_READONLY_DBMOVED), READ_ONLY),
        (of_sqlite(sqlite3.SQLITE_IOERR_READ), FAILING),
        (of_sqlite(sqlite3.SQLITE_CANTOPEN), FAILING),
        (of_sqlite(sqlite3.SQLITE_CORRUPT_INDEX), DAMAGED),
        (of_sqlite(sqlite3.SQLITE_NOTADB), DAMAGED),
        (of_sqlite(sqlite3.SQLITE_BUSY_SNAPSHOT), BUSY),
        (of_postgresql("53100"), FULL),
        (of_postgresql("XX001"), DAMAGED),
        (OSError(errno.ENOSPC, "No space left on device"), FULL),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), FULL),
        (OSError(errno.EROFS, "Read-only file system"), READ_ONLY),
        (redis.ResponseError("MISCONF Errors writing to the AOF file"), FULL),
    ],
    ids=repr,
)
def test_an_error_of_the_storage_is_named_whatever_it_is_wrapped_in(
    error: Exception, expected: Trouble
) -> None:
    for outer in (error, wrapped(error)):
        met = storage.of(outer)
        assert met
        assert met.trouble is expected
        assert "{" not in str(met)


def wrapped(error: Exception) -> DatabaseError:
    outer = OperationalError("as Django raises it")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize(
    "error",
    [None, ValueError("no"), OSError(errno.ENOENT, "none"), of_sqlite(sqlite3.SQLITE_CONSTRAINT)],
    ids=repr,
)
def test_other_errors_mean_something_else(error: Exception | None) -> None:
    assert storage.of(error) is None


@pytest.mark.django_db
def test_the_database_really_says_so() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("SQLite's own error")
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA query_only = 1")
        try:
            with pytest.raises(OperationalError) as caught:
                cursor.execute("DELETE FROM accounts_user")
        finally:
            cursor.execute("PRAGMA query_only = 0")
    met = storage.of(caught.value)
    assert met
    assert met.trouble is READ_ONLY


def test_a_reserve_of_the_disk_is_kept(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    total = 10 * 1024**3
    settings.DISK_RESERVE_BYTES = 64 * 1024**2
    for free, expected in ((65, None), (63, FULL), (0, FULL)):
        monkeypatch.setattr(os, "statvfs", lambda place, free=free: disk(total, free * 1024**2))
        met = storage.on_disk()
        assert (met.trouble if met else None) is expected
        assert (storage.on_disk(reserve=0) is None) is (free > 0)
    monkeypatch.setattr(os, "statvfs", lambda place: disk(20 * 1024**2, 2 * 1024**2))
    assert storage.on_disk() is None, "of a small disk the reserve is a twentieth"


def disk(total: int, free: int) -> os.statvfs_result:
    return os.statvfs_result((1, 1, total, free, free, 0, 0, 0, 0, 255))


def test_a_read_only_disk_shows_at_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    status = os.statvfs_result((1, 1, 10**9, 10**9, 10**9, 0, 0, 0, os.ST_RDONLY, 255))
    monkeypatch.setattr(os, "statvfs", lambda place: status)
    met = storage.on_disk()
    assert met
    assert met.trouble is READ_ONLY


@pytest.mark.parametrize(("code", "expected"), [(errno.EROFS, READ_ONLY), (errno.EPERM, None)])
def test_a_disk_that_refuses_writes_counts_as_read_only_whatever_it_calls_itself(
    monkeypatch: pytest.MonkeyPatch, code: int, expected: Trouble | None
) -> None:
    def refuse(place: Path) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "utime", refuse)
    met = storage.on_disk()
    assert (met.trouble if met else None) is expected


def test_processes_hear_of_it_from_each_other_for_a_while(valkey: redis.Redis) -> None:
    assert storage.remembered() is None
    met = StorageTrouble(DAMAGED, "/data/with space.sqlite3")
    storage.remember(met)
    assert storage.remembered() == storage.current() == met
    assert 0 < int(valkey.ttl(storage.KEY)) <= storage.REMEMBERED_SECONDS


def test_trouble_of_another_process_is_noticed_within_a_second(valkey: redis.Redis) -> None:
    assert storage.remembered() is None
    met = StorageTrouble(DAMAGED, "/data/there.sqlite3")
    valkey.set(storage.KEY, met.encode())
    wait_for(lambda: storage.remembered() == met, timeout=1.0, exact=True)


def test_without_a_broker_each_looks_for_itself(settings: Settings, tmp_path: Path) -> None:
    connection_to_valkey.cache_clear()
    settings.REDIS_URL = f"unix://{tmp_path}/none.sock"
    try:
        storage.remember(StorageTrouble(DAMAGED, "here"))
        assert storage.remembered() is None
    finally:
        connection_to_valkey.cache_clear()
