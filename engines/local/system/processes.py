"""Find and end processes. A process that got the pid of an earlier one is never taken for it."""

import os
import signal
import time
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from pathlib import Path

import psutil

from engines.local.system import marks
from engines.shared.starts import is_same

#: Seconds that a process may take to exec another program on a busy machine.
EXEC_SECONDS = 5.0
#: Before a command, starts it apart from its caller and prints its pid. The shell exits at once, so
#: that init becomes the parent and reaps the process.
DETACH = ["/bin/sh", "-c", '"$@" >&2 & echo $!', "sh"]


def is_alive(pid: int, started: str) -> bool:
    """Whether this process, and not another with its pid, still runs."""
    try:
        return is_same(pid, started) and not has_ended(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return False


def has_ended(process: psutil.Process) -> bool:
    """Whether nothing of a process runs, even if its parent has not asked for its exit code yet."""
    if process.status() != psutil.STATUS_ZOMBIE:
        return False
    # A process whose first thread has ended looks like a zombie while its other threads still run,
    # or release the memory of a GPU.
    try:
        return process.num_threads() <= 1
    except psutil.ZombieProcess:  # macOS tells nothing else about a zombie
        return True


def signal_group(pid: int, number: signal.Signals) -> None:
    """Send a signal to the process group of ``pid``; an empty group is fine."""
    with suppress(ProcessLookupError, PermissionError):  # macOS says EPERM of a group of zombies
        os.killpg(pid, number)


def kill(pid: int, started: str) -> None:
    """SIGKILL this process and its group, if it is still the one that was recorded."""
    if is_alive(pid, started):
        signal_group(pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def kill_leftovers(folder: Path, *, ranks: Set[int] | None = None, patience: float = 5.0) -> bool:
    """SIGKILL the processes of a workload, or of some of its ranks, until there are none.

    Returns ``False`` if there are still some after ``patience`` seconds.
    """
    deadline = time.monotonic() + patience
    while True:
        # Again and again, because a process may fork before it is killed, and takes time to end.
        found = find_processes(folder) if ranks is None else find_rank_processes(folder, ranks)
        leftovers = list(found)
        if not leftovers:
            return True
        for process in leftovers:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)


def find_processes(folder: Path) -> Iterator[psutil.Process]:
    """Yield the live processes of the workload in ``folder``."""
    for process in _live_processes():
        with suppress(psutil.Error, OSError):
            if marks.rank_of(process.pid, folder) is not None or _has_marker(process, folder):
                yield process


def find_rank_processes(folder: Path, ranks: Set[int]) -> Iterator[psutil.Process]:
    """Yield the live processes of some ranks of the workload in ``folder``."""
    # The mark first: it is cheaper to read than the state, and few processes have it.
    for process in psutil.process_iter():
        if marks.rank_of(process.pid, folder) in ranks:
            with suppress(psutil.Error):
                if not has_ended(process):
                    yield process


class Orphans:
    """Terminates processes that a rank's first process left behind outside of its group.

    Each gets SIGTERM once, and only when its parent is gone: while the parent lives, it is the one
    to pass the signal on, as ``torchrun`` does.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._terminated: set[psutil.Process] = set()

    def terminate(self, first_pids: Mapping[int, int]) -> set[int]:
        """Terminate the orphans of ranks, and return which of the ranks still have processes.

        ``first_pids`` are the pids of the ranks' first processes, which lead their groups.
        """
        occupied = set[int]()
        for process in find_rank_processes(self.folder, first_pids.keys()):
            with suppress(psutil.Error, OSError):
                rank = marks.rank_of(process.pid, self.folder)
                is_orphan = marks.rank_of(process.ppid(), self.folder) is None
                has_left = os.getpgid(process.pid) != first_pids.get(rank or 0)
                if is_orphan and has_left and process not in self._terminated:
                    self._terminated.add(process)
                    process.terminate()
                if rank is not None:
                    occupied.add(rank)
        return occupied


def _live_processes() -> Iterator[psutil.Process]:
    """All live processes except this one."""
    me = os.getpid()
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != me and not has_ended(process):
                yield process


def _has_marker(process: psutil.Process, folder: Path) -> bool:
    return read_environment(process).get(marks.MARKER) == str(folder)


def read_environment(process: psutil.Process) -> dict[str, str]:
    """Return the variables with which a process was started."""
    # While a process executes another program, Linux shows it without arguments and then without
    # variables, even after the parent was told that the exec succeeded. A process without an
    # executable is a kernel thread, and has no variables.
    deadline = time.monotonic() + EXEC_SECONDS
    has_arguments = False
    while True:
        variables = process.environ()
        if variables or not process.exe():
            return variables
        if has_arguments or time.monotonic() > deadline:
            return variables
        has_arguments = bool(process.cmdline())
        time.sleep(0.001)
