"""Waiting for a condition instead of sleeping for a while."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_for(
    condition: Callable[[], T], timeout: float = 10.0, message: str = "", every: float = 0.02
) -> T:
    """The first true value of ``condition``; AssertionError after ``timeout`` seconds."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            what = message or getattr(condition, "__name__", "the condition")
            raise AssertionError(f"after {timeout:g} s still waiting for: {what}")
        time.sleep(every)
