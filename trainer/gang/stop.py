"""A request to stop, made by a signal. The loop checks for it between two steps."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from trainer.errors import Stopped

SIGNALS = (signal.SIGTERM, signal.SIGUSR1)  # Slurm announces its time limit by SIGUSR1
NAP = 0.05  # seconds: how late a pause may notice a signal


class StopRequest:
    """Records the first signal that asks to stop. Later signals change nothing, because launchers
    often send two."""

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
        while not self:
            seconds_left = end - time.monotonic()
            if seconds_left <= 0:
                return
            time.sleep(min(NAP, seconds_left))

    def _record_signal(self, number: int, _frame: FrameType | None) -> None:
        self.signal = self.signal or signal.Signals(number).name


@contextmanager
def listen_for_stop() -> Iterator[StopRequest]:
    """Record stop signals in a ``StopRequest`` while the block runs. Only the main thread
    may call this."""
    stop_request = StopRequest()
    before = {number: signal.signal(number, stop_request._record_signal) for number in SIGNALS}
    try:
        yield stop_request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
