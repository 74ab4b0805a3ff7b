"""Read the queue for everything in this process that needs it, no more often than Slurm can
bear."""

import time
from dataclasses import dataclass, field
from threading import Event, Lock

from engines.base import EngineUnavailable
from engines.slurm.client.transport import Transport
from engines.slurm.queue.commands import squeue
from engines.slurm.queue.jobs import BatchJob

SLOW = 1.0  # seconds; an answer that takes longer doubles the pause
LONGEST = 60.0


@dataclass
class QueueReader:
    """The queue, with the last answer. ``interval`` is the minimum time between two requests, in
    seconds. Failures are kept in the same way as answers. ``owners_in`` is a directory of workloads
    whose owners' jobs count as ours."""

    transport: Transport
    interval: float
    owners_in: str = ""
    _pause: float = 0.0
    _began: float = float("-inf")
    _answer: list[BatchJob] | EngineUnavailable = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    @property
    def due(self) -> float:
        """Seconds until Slurm may be asked again."""
        return max(0.0, self._began + max(self._pause, self.interval) - time.monotonic())

    def next(self, closing: Event) -> list[BatchJob]:
        """Our jobs, as soon as Slurm may be asked again. Raises ``EngineUnavailable`` if it fails,
        or if ``closing`` is set meanwhile."""
        while not closing.wait(self.due):
            with self._lock:
                if not self.due:
                    return self._ask()
        raise EngineUnavailable("nobody watches any more")

    def named(self, *names: str) -> list[BatchJob]:
        """Our jobs with these names, asked for immediately."""
        return squeue(self.transport, names=names, owners_in=self.owners_in)

    def recent(self) -> list[BatchJob]:
        """Our jobs, no older than ``interval``."""
        with self._lock:
            if time.monotonic() - self._began < self.interval:
                if isinstance(self._answer, EngineUnavailable):
                    raise self._answer
                return self._answer
            return self._ask()

    def _ask(self) -> list[BatchJob]:
        self._began = time.monotonic()
        try:
            self._answer = squeue(self.transport, owners_in=self.owners_in)
        except EngineUnavailable as error:
            self._answer = error
            raise
        finally:
            took = time.monotonic() - self._began
            pause = max(self._pause, self.interval)
            self._pause = min(LONGEST, pause * 2) if took > SLOW else self.interval
        return self._answer
