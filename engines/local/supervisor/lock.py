"""The lock that makes a supervisor the only one of its workload."""

import fcntl
import os
import time
from typing import IO

from engines.local.records.journal import RETRY, is_full
from engines.local.records.layout import Folder
from engines.shared.starts import start_of

#: Seconds to wait for the earlier run's supervisor, which is finishing.
PATIENCE = 2.0


def acquire(folder: Folder) -> IO[str] | None:
    """Take the lock; ``None`` if the workload has a supervisor."""
    lock, deadline = folder.lock.open("a+"), time.monotonic() + PATIENCE
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
    """Write our pid into the lock, as soon as there is space: a deletion kills that process."""
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
