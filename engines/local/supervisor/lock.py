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
    """Take the lock, which is held until the file closes. ``None`` if the workload has a
    supervisor."""
    lock = folder.lock.open("a+")
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return None
            time.sleep(0.02)
            continue
        _sign(lock)
        return lock


def _sign(lock: IO[str]) -> None:
    """Write this process's pid into the lock, because a deletion kills the process named there.
    While the disk is full, it waits."""
    name = f"{os.getpid()} {start_of(os.getpid())}".encode()
    while True:
        try:
            os.ftruncate(lock.fileno(), 0)
            os.write(lock.fileno(), name)
        except OSError as error:
            if not is_full(error):
                raise
            time.sleep(RETRY)
            continue
        return
