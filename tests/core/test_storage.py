"""The reserve of the disk, and errors that mean that something could not be saved."""

import errno
import os

import pytest
import redis
from django.db import DatabaseError, IntegrityError, OperationalError
from pytest_django import Settings

from core import storage
from core.storage import DiskFull


def disk(total: int, free: int) -> os.statvfs_result:
    return os.statvfs_result((1, 1, total, free, free, 0, 0, 0, 0, 255))


def test_space_is_refused_below_the_reserve(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DISK_RESERVE_BYTES = 64 * 1024**2
    for free_megabytes, is_full in ((65, False), (63, True), (0, True)):
        status = disk(10 * 1024**3, free_megabytes * 1024**2)
        monkeypatch.setattr(os, "statvfs", lambda folder, status=status: status)
        assert (storage.full_folder() is not None) is is_full
        assert (storage.full_folder(reserve=0) is not None) is (free_megabytes == 0)
    with pytest.raises(DiskFull, match="The disk is full"):
        storage.require_space()


def test_the_reserve_of_a_small_disk_is_a_twentieth(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DISK_RESERVE_BYTES = 64 * 1024**2
    monkeypatch.setattr(os, "statvfs", lambda folder: disk(20 * 1024**2, 2 * 1024**2))
    assert storage.full_folder() is None
    storage.require_space()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_an_error_of_the_system_says_that_the_disk_is_full(code: int) -> None:
    assert storage.is_full(OSError(code, os.strerror(code)))
    assert not storage.is_full(OSError(errno.ENOENT, "none"))


def test_an_error_of_the_database_is_a_full_disk_only_without_space(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    error = OperationalError("database or disk is full")
    assert not storage.is_full(error)
    monkeypatch.setattr(os, "statvfs", lambda folder: disk(10 * 1024**3, 0))
    assert storage.is_full(error)


def test_a_refused_statement_is_no_outage() -> None:
    assert storage.is_outage(OperationalError("database is locked"))
    assert storage.is_outage(DatabaseError("database disk image is malformed"))
    assert storage.is_outage(redis.ResponseError("MISCONF Errors writing to the AOF file"))
    assert not storage.is_outage(redis.ResponseError("WRONGTYPE Operation against a key"))
    assert not storage.is_outage(IntegrityError("UNIQUE constraint failed"))
    assert not storage.is_outage(ValueError("no"))
