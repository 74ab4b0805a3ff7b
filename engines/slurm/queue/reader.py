"""The queue, asked for no more often than Slurm can bear, by all of a process that want to know."""

import time
from dataclasses import dataclass, field
from threading import Event, Lock

from engines.base import EngineUnavailable
from engines.slurm.client.transport import Transport
from engines.slurm.queue.commands import squeue
from engines.slurm.queue.jobs import BatchJob

SLOW = 1.0  # seconds: an answer that takes longer doubles the pause
LONGEST = 60.0


@dataclass
class QueueReader:
    """``interval`` is the least time between two questions, in seconds. A silence is an answer as
    well: it is told again meanwhile, not asked for. ``owners_in``: a directory of workloads whose
    owners' jobs count as ours."""

    transport: Transport
    interval: float
    owners_in: str = ""
    _pause: float = 0.0
    _began: float = float("-inf")
    _answer: list[BatchJob] | EngineUnavailable = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    @property
    def due(self) -> float:
        """Seconds until it may be asked again."""
        return max(0.0, self._began + max(self._pause, self.interval) - time.monotonic())

    def next(self, closing: Event) -> list[BatchJob]:
        """Our jobs as they are from now on, as soon as they may be asked for; ``EngineUnavailable``
        where nobody waits for them any more."""
        while not closing.wait(self.due):
            with self._lock:
                if not self.due:
                    return self._ask()
        raise EngineUnavailable("nobody watches any more")

    def named(self, *names: str) -> list[BatchJob]:
        """Those of our jobs that have these names, asked for at once."""
        return squeue(self.transport, names=names, owners_in=self.owners_in)

    def recent(self) -> list[BatchJob]:
        """Our jobs as they were ``interval`` ago, or later."""
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
