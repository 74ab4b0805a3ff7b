"""Waiting for a condition instead of sleeping for a while."""

import os
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
SLOWEST = 1 / 3  # of the pace of a machine that does nothing else


def wait_for(
    condition: Callable[[], T],
    timeout: float = 10.0,
    message: str = "",
    every: float = 0.02,
    *,
    exact: bool = False,
) -> T:
    """The first true value of ``condition``; AssertionError after ``timeout`` seconds of a machine
    that has time for it: of one with more to do than cores, as much later. ``exact`` where the time
    is what a test shows."""
    began = before = time.monotonic()
    left = timeout
    while True:
        value = condition()
        if value:
            return value
        now = time.monotonic()
        left -= (now - before) * (1.0 if exact else pace())
        before = now
        if left < 0:
            what = message or getattr(condition, "__name__", "the condition")
            raise AssertionError(f"after {now - began:.0f} s still waiting for: {what}")
        time.sleep(every)


def pace() -> float:
    """At which this machine does one thing beside all others. In a container that may use only some
    of the cores this is too fast: both numbers are those of the whole machine."""
    cores, busy = os.cpu_count() or 1, os.getloadavg()[0]
    return min(1.0, max(SLOWEST, cores / max(busy, 1.0)))
