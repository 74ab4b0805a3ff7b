"""Reads a watch for one workload."""

from collections.abc import Generator, Iterator

from engines.base import Launch, Observation
from tests.waiting import wait_for


def changes(watch: Iterator[Observation | None], launched: Launch) -> Generator[Observation]:
    """Yield each change of one workload that the watch reports."""
    while True:
        seen = wait_for(lambda: next(watch), 90, "a change")
        if seen and seen.workload_id == launched.handle.workload_id:
            yield seen
