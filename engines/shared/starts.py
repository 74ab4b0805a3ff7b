"""Distinguishes a process from a later one with the same pid, even if the clock is changed."""

from pathlib import Path

import psutil

BOOT = Path("/proc/sys/kernel/random/boot_id")
TICKS = 19  # index of the ticks since boot, after the name in /proc/PID/stat


def start_of(pid: int) -> str:
    """Return the boot and the ticks between it and the start of a process; empty if the process is
    gone."""
    try:
        boot = BOOT.read_text().strip()
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return f"{boot}/{fields[TICKS].decode()}"
    except (OSError, IndexError):
        return _start_elsewhere(pid)


def _start_elsewhere(pid: int) -> str:
    """Return the start on systems without /proc: the time that the clock showed then."""
    if BOOT.exists():
        return ""
    try:
        return f"{psutil.Process(pid).create_time():.3f}"
    except psutil.Error:
        return ""


def is_same(pid: int, started: str) -> bool:
    """Whether the process with this pid is the one that ``started`` then."""
    return bool(started) and start_of(pid) == started
