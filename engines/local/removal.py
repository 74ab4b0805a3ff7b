"""Removing a workload: first whatever runs, then whatever is written."""

import fcntl
import time
from collections.abc import Callable
from typing import IO

from engines.base import EngineUnavailable
from engines.local.records.layout import Folder, locked
from engines.local.system import cgroups, processes

PATIENCE = 5.0  # seconds for a killed supervisor to be gone


def remove(folder: Folder, at_rest: Callable[[], None] | None = None) -> None:
    """Kill and forget. ``EngineUnavailable`` when something of it does not die. ``at_rest`` is
    called when all of it has ended and is still there to be read."""
    with locked(folder.door):
        if not folder.path.exists():
            folder.state.unlink(missing_ok=True)
            return
        folder.launch.unlink(missing_ok=True)  # a supervisor that comes now finds nothing to do
        with folder.lock.open("a+") as lock:
            _end_supervisor(lock)
            if not processes.sweep(folder.path):
                raise EngineUnavailable("its processes do not end; trying again")
            if at_rest:
                at_rest()
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
                    processes.kill(int(pid), started)
            if time.monotonic() > deadline:
                raise EngineUnavailable("its supervisor does not end; trying again") from None
            time.sleep(0.01)
            continue
        return
