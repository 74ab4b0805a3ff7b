"""Remove a workload: first its processes, then its files."""

import fcntl
import time
from collections.abc import Callable
from typing import IO

from engines.base import EngineUnavailable
from engines.local.records.layout import Folder, locked
from engines.local.system import cgroups, processes

PATIENCE = 5.0  # seconds until a killed supervisor must be gone


def remove(folder: Folder, at_rest: Callable[[], None] | None = None) -> None:
    """Kill everything and delete the files. ``EngineUnavailable`` if something does not die.
    ``at_rest`` is called when everything has ended and can still be read."""
    with locked(folder.door):
        if not folder.path.exists():
            folder.state.unlink(missing_ok=True)
            return
        folder.launch.unlink(missing_ok=True)  # a supervisor that starts now finds nothing to do
        with folder.lock.open("a+") as lock:
            _end_supervisor(lock)
            if not processes.sweep(folder.path):
                raise EngineUnavailable("its processes do not end; trying again")
            if at_rest:
                at_rest()
            cgroups.discard(folder.workload_id)
            folder.remove()


def _end_supervisor(lock: IO[str]) -> None:
    """Kill the holder of the lock until we have it."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            match lock.read().split():
                case [pid, started]:
                    processes.kill(int(pid), started)
            if time.monotonic() > deadline:
                raise EngineUnavailable("its supervisor does not end; trying again") from None
            time.sleep(0.01)
            continue
        return
