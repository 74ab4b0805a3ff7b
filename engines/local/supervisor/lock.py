"""The lock that keeps a workload from having two supervisors."""

import fcntl
import os
import time
from typing import IO

from engines.local.records.journal import RETRY, is_full
from engines.local.records.layout import Folder
from engines.shared.starts import start_of

#: Seconds to wait for the supervisor of the run before, which may still be finishing.
PATIENCE = 2.0


def acquire(folder: Folder) -> IO[str] | None:
    """Take the lock and return its file; closing the file frees the lock.

    Returns ``None`` if the workload has another supervisor.
    """
    lock = folder.supervisor_lock.open("a+")
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return None
            time.sleep(0.02)
            continue
        _write_owner(lock)
        return lock


def _write_owner(lock: IO[str]) -> None:
    """Write this process's pid and start into the lock file, waiting while the disk is full.

    A deletion kills the process that is named there.
    """
    owner = f"{os.getpid()} {start_of(os.getpid())}".encode()
    while True:
        try:
            os.ftruncate(lock.fileno(), 0)
            os.write(lock.fileno(), owner)
        except OSError as error:
            if not is_full(error):
                raise
            time.sleep(RETRY)
            continue
        return
