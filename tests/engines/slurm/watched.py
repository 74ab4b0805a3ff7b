"""A watch as the product keeps it, while something goes wrong. It must ask no more often than
allowed, every workload must move as the table of moves allows, and none may have two jobs."""

import itertools
import re
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from uuid import UUID

from engines.base import EngineUnavailable, Launch, Observation
from engines.slurm.client.transport import TIMEOUT, CommandResult, Transport
from engines.slurm.engine import SlurmEngine
from engines.slurm.layout import run_of
from engines.slurm.queue.commands import squeue
from engines.slurm.watch.watcher import INTERVAL
from spec.phases import MOVES, TERMINAL, Phase, Reason
from tests.engines.contract import DEADLINE
from tests.engines.slurm.rig import SlurmRig
from tests.waiting import wait_for

ANEW_SECONDS = 1.0  # pause after a failed watch: shorter than a worker's


@dataclass
class Counting:
    """Passes commands on to another transport, and records them."""

    inner: Transport
    asked: list[str] = field(default_factory=list)
    host: str = "counting"

    def count(self, program: str) -> int:
        """Return how many commands ran a program, or had a shell run it."""
        return sum(program in re.split(r"[^a-z_-]+", line) for line in self.asked)

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = TIMEOUT
    ) -> CommandResult:
        self.asked.append(" ".join(argv))
        return self.inner.run(argv, stdin=stdin, timeout=timeout)

    def terminal(self, argv: Sequence[str]) -> list[str]:
        return self.inner.terminal(argv)

    def tunnel(self, host: str, port: int) -> list[str] | None:
        return self.inner.tunnel(host, port)


class WatchedSite:
    """A watch of one directory, from now on until ``check``.

    At the end, Slurm may know ``most_jobs`` of a run, including those that have ended.
    """

    most_jobs = 1

    def __init__(self, rig: SlurmRig) -> None:
        self.transport = Counting(rig.transport)
        self._own = rig.transport
        self._engine = SlurmEngine(self.transport, rig.site)
        self._told: defaultdict[tuple[UUID, int], list[Observation]] = defaultdict(list)
        self._over = Event()
        self._began = time.monotonic()
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._over.wait(ANEW_SECONDS):
            watch = self._engine.watch()
            with suppress(EngineUnavailable):
                for told in watch:
                    if told:
                        self._told[told.workload_id, told.run].append(told)
                    if self._over.is_set():
                        break
            watch.close()

    def seen(self, launched: Launch, phase: Phase) -> Observation:
        """Wait for a phase of a workload, and return its first observation."""
        mark = launched.handle.workload_id, launched.run

        def those() -> list[Observation]:
            return [it for it in (*self._told[mark],) if it.phase is phase]

        return wait_for(those, DEADLINE, f"{phase}")[0]

    def check(self) -> None:
        """End the watch. Fails if Slurm was asked more than once in five seconds, if a phase went
        back, or if a run has too many jobs."""
        seconds = time.monotonic() - self._began
        self._over.set()
        self._thread.join(TIMEOUT)
        assert self.transport.count("squeue") <= seconds / INTERVAL + 1
        for observations in self._told.values():
            for before, now in itertools.pairwise(observations):
                assert allowed(before, now), f"{before} {now}"
        jobs = Counter(run_of(job.name) for job in squeue(self._own))
        assert all(jobs[mark] <= self.most_jobs for mark in self._told), jobs


def allowed(before: Observation, now: Observation) -> bool:
    """Whether a workload may move from one observation to the other."""
    if before.phase is None or now.phase is None:
        return before.phase not in TERMINAL  # the workload was deleted
    if now.phase is Phase.PENDING and before.phase is not Phase.PENDING:
        return now.reason is Reason.PREEMPTED or before.phase is Phase.UNKNOWN
    return now.phase is before.phase or now.phase in MOVES[before.phase]
