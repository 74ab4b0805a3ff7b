"""A wish to stop, told by a signal: the loop asks for it between two steps."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from trainer.errors import Stopped

SIGNALS = (signal.SIGTERM, signal.SIGUSR1)  # SIGUSR1 is how Slurm warns of the time limit
NAP = 0.05  # seconds; how late a signal may be noticed in a pause


class StopWish:
    """Set by the first signal, unchanged by the others: launchers often send two."""

    def __init__(self) -> None:
        self.signal: str | None = None

    def __bool__(self) -> bool:
        """Whether somebody wants the training to stop."""
        return self.signal is not None

    def check(self) -> None:
        """Raise Stopped if somebody wants it: for the waiting before the first step."""
        if self.signal:
            raise Stopped(f"stopped by {self.signal} before the first step")

    def pause(self, seconds: float) -> None:
        """Wait, but no longer than until a wish to stop."""
        end = time.monotonic() + seconds
        while not self and (left := end - time.monotonic()) > 0:
            time.sleep(min(NAP, left))

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        self.signal = self.signal or signal.Signals(number).name


@contextmanager
def listening() -> Iterator[StopWish]:
    """Turn stop signals into a wish for as long as the block runs. Main thread only."""
    wish = StopWish()
    before = {number: signal.signal(number, wish._hear) for number in SIGNALS}
    try:
        yield wish
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
