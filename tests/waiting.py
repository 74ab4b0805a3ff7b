"""Waits for a condition, instead of sleeping for a fixed time."""

import os
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
SLOWEST = 1 / 3  # share of the pace of an idle machine


def wait_for(
    condition: Callable[[], T],
    timeout: float = 10.0,
    message: str = "",
    every: float = 0.02,
    *,
    exact: bool = False,
) -> T:
    """Return the first true value of ``condition``.

    Raises ``AssertionError`` after ``timeout`` seconds of an idle machine, which last longer on a
    busy one. ``exact`` means seconds of the clock, for tests that are about the time itself.
    """
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
    """Return how fast this machine does one of all its tasks, compared with an idle machine.

    In a container that is limited to some of the cores this is too high, because the numbers of
    cores and of tasks are the machine's.
    """
    cores = os.cpu_count() or 1
    busy = os.getloadavg()[0]
    return min(1.0, max(SLOWEST, cores / max(busy, 1.0)))
