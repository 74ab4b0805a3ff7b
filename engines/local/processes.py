"""Finding and ending processes, without ever hitting a stranger that got a recycled pid."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress

import psutil

from engines.local.environment import MARKER

#: Seconds. Two readings of one start differ when the clock was set; a pid is not reused so soon.
SAME_START = 2.0
#: Seconds that a process may take to become another program, on a machine that is very busy.
BECOMING_SECONDS = 5.0


def start_time(pid: int) -> float:
    """Seconds since the epoch; 0 when it is already gone."""
    try:
        return psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        return 0.0


def is_alive(pid: int, started: float) -> bool:
    """Whether this very process, not another under its pid, still runs."""
    try:
        process = psutil.Process(pid)
        same = abs(process.create_time() - started) < SAME_START
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def signal_group(pid: int, number: signal.Signals) -> None:
    """To every process of the group that ``pid`` leads; none left is fine."""
    with suppress(ProcessLookupError, PermissionError):  # macOS says EPERM of a group of zombies
        os.killpg(pid, number)


def kill(pid: int, started: float) -> None:
    """SIGKILL this process and its group, if it is still the one that was recorded."""
    if is_alive(pid, started):
        signal_group(pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def sweep(mark: str, *, patience: float = 5.0) -> None:
    """SIGKILL whatever carries the mark until nothing does, at most ``patience`` seconds.

    Again and again, since a process may fork while it is looked for; a zombie counts as gone.
    """
    deadline = time.monotonic() + patience
    while found := list(marked(mark)):
        for process in found:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if time.monotonic() > deadline:
            return
        time.sleep(0.005)


def marked(mark: str) -> Iterator[psutil.Process]:
    """Live processes that carry the mark, which is the workload's folder."""
    me = os.getpid()
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.pid == me or process.status() == psutil.STATUS_ZOMBIE:
                continue
            if environ(process).get(MARKER) == mark:
                yield process


def environ(process: psutil.Process) -> dict[str, str]:
    """The variables that it was started with.

    Linux shows a process without arguments and then without variables while it becomes another
    program, also when whoever started it was already told that this worked. What has no file
    either is a thread of the kernel and stays without.
    """
    deadline = time.monotonic() + BECOMING_SECONDS
    has_become = False
    while not (found := process.environ()) and process.exe():
        if has_become or time.monotonic() > deadline:
            break
        has_become = bool(process.cmdline())
        time.sleep(0.001)
    return found
