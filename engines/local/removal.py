"""Remove a workload: first its processes, then its files."""

import fcntl
import time
from collections.abc import Callable
from typing import IO

from engines.base import EngineUnavailable
from engines.local.records.layout import Folder, hold_lock
from engines.local.system import cgroups, processes

PATIENCE = 5.0  # seconds until a killed supervisor must be gone


def remove(folder: Folder, at_rest: Callable[[], None] | None = None) -> None:
    """Kill all processes of a workload and delete its files.

    ``at_rest`` is called once everything has ended, while the files can still be read. Raises
    ``EngineUnavailable`` if a process does not end.
    """
    with hold_lock(folder.change_lock):
        if not folder.path.exists():
            folder.state.unlink(missing_ok=True)
            return
        folder.launch.unlink(missing_ok=True)  # a supervisor that starts now finds nothing to do
        with folder.supervisor_lock.open("a+") as lock:
            _end_supervisor(lock)
            if not processes.kill_leftovers(folder.path):
                raise EngineUnavailable("its processes do not end; trying again")
            if at_rest:
                at_rest()
            cgroups.discard_leftovers(folder.workload_id)
            folder.remove()


def _end_supervisor(lock: IO[str]) -> None:
    """Kill the process that holds the lock, until this process holds it.

    Then no supervisor can start: it would need the lock.
    """
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
