"""Removing a workload: first whatever runs, then whatever is written."""

import fcntl
import time
from typing import IO

from engines.base import EngineUnavailable
from engines.local import cgroups, processes
from engines.local.layout import Folder, locked

PATIENCE = 5.0  # seconds for a killed supervisor to be gone


def remove(folder: Folder) -> None:
    """Kill and forget. ``EngineUnavailable`` when the supervisor does not die."""
    with locked(folder.door):
        if not folder.path.exists():
            folder.state.unlink(missing_ok=True)
            return
        folder.launch.unlink(missing_ok=True)  # a supervisor that comes now finds nothing to do
        with folder.lock.open("a+") as lock:
            _end_supervisor(lock)
            processes.sweep(str(folder.path))
            cgroups.discard(folder.workload_id)
            folder.remove()


def _end_supervisor(lock: IO[str]) -> None:
    """Kill whoever holds the lock, until it is ours."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            match lock.read().split():
                case [pid, started]:
                    processes.kill(int(pid), float(started))
            if time.monotonic() > deadline:
                raise EngineUnavailable("its supervisor does not end; trying again") from None
            time.sleep(0.01)
            continue
        return
