"""Find and end processes, without ever hitting a stranger with a recycled pid."""

import os
import signal
import time
from collections.abc import Iterator, Set
from contextlib import suppress
from pathlib import Path

import psutil

from engines.local.system import marks
from engines.shared.starts import is_same

#: Seconds that a process may take to exec another program on a busy machine.
BECOMING_SECONDS = 5.0


def is_alive(pid: int, started: str) -> bool:
    """Whether this process, and not another with its pid, still runs."""
    try:
        return is_same(pid, started) and not has_ended(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return False


def has_ended(process: psutil.Process) -> bool:
    """Whether nothing of a process runs, whoever has yet to ask for its exit code.

    One whose first thread has ended looks like a zombie, while its others run, or still give the
    memory of a GPU back.
    """
    if process.status() != psutil.STATUS_ZOMBIE:
        return False
    try:
        return process.num_threads() <= 1
    except psutil.ZombieProcess:  # macOS says no more of one
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


def sweep(folder: Path, *, ranks: Set[int] | None = None, patience: float = 5.0) -> bool:
    """SIGKILL what is left of a workload, or of some of its ranks, until nothing is.

    It repeats, because a process may fork meanwhile, and ends in its own time. ``False`` if
    something is left after ``patience`` seconds.
    """
    deadline = time.monotonic() + patience
    while left := list(marked(folder) if ranks is None else of_ranks(folder, ranks)):
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def marked(folder: Path) -> Iterator[psutil.Process]:
    """Live processes of a workload, identified by its folder."""
    for process in _others():
        with suppress(psutil.Error, OSError):
            if marks.rank_of(process.pid, folder) is not None or _names(process, folder):
                yield process


def of_ranks(folder: Path, ranks: Set[int]) -> Iterator[psutil.Process]:
    return (process for process in _others() if marks.rank_of(process.pid, folder) in ranks)


def _others() -> Iterator[psutil.Process]:
    """All live processes except this one."""
    me = os.getpid()
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != me and not has_ended(process):
                yield process


def _names(process: psutil.Process, folder: Path) -> bool:
    return environ(process).get(marks.MARKER) == str(folder)


def environ(process: psutil.Process) -> dict[str, str]:
    """The variables that a process was started with.

    While a process executes another program, Linux shows it without arguments and then without
    variables, even after the parent was told that the exec succeeded. A process without an
    executable is a kernel thread, and has none.
    """
    deadline = time.monotonic() + BECOMING_SECONDS
    has_become = False
    while not (variables := process.environ()) and process.exe():
        if has_become or time.monotonic() > deadline:
            break
        has_become = bool(process.cmdline())
        time.sleep(0.001)
    return variables
