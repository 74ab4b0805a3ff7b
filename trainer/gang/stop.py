"""A request to stop, made by a signal. The loop checks for it between two steps."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from trainer.errors import Stopped

SIGNALS = (signal.SIGTERM, signal.SIGUSR1)  # Slurm announces its time limit by SIGUSR1
NAP = 0.05  # seconds: how late a pause may notice a signal


class StopWish:
    """Records the first signal that asks to stop. Later ones change nothing: launchers often send
    two."""

    def __init__(self) -> None:
        self.signal: str | None = None

    def __bool__(self) -> bool:
        """Whether a signal has asked the training to stop."""
        return self.signal is not None

    def check(self) -> None:
        """Raise ``Stopped`` if a signal has arrived. Used while waiting for the first step."""
        if self.signal:
            raise Stopped(f"stopped by {self.signal} before the first step")

    def pause(self, seconds: float) -> None:
        """Wait for ``seconds``, or until a signal arrives."""
        end = time.monotonic() + seconds
        while not self and (left := end - time.monotonic()) > 0:
            time.sleep(min(NAP, left))

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        self.signal = self.signal or signal.Signals(number).name


@contextmanager
def listening() -> Iterator[StopWish]:
    """Record stop signals in a ``StopWish`` while the block runs. Only the main thread may
    call it."""
    wish = StopWish()
    before = {number: signal.signal(number, wish._hear) for number in SIGNALS}
    try:
        yield wish
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
