"""What a supervisor does while its gang runs: sample it, and hold the memory limits."""

import signal
import time
from dataclasses import dataclass, field

from engines.local import processes, sampling, words
from engines.local.gang import Gang, Member
from engines.local.layout import Folder, Json
from engines.local.plan import Plan
from engines.local.sampling import Sample, Sampler
from engines.local.state import now

EVERY = 1.0  # seconds between samples
CLOSELY = 0.2  # the same, where the supervisor itself holds a memory limit


@dataclass
class Tending:
    folder: Folder
    plan: Plan
    gang: Gang
    sampler: Sampler = field(default_factory=Sampler)
    _next: float = 0.0
    _written: float = 0.0

    def tick(self) -> float:
        """Sample if it is time to. Returns the seconds until it is again."""
        clock = time.monotonic()
        if clock >= self._next:
            watched = any(member.watches_memory for member in self.gang.running)
            self._next = clock + (CLOSELY if watched else EVERY)
            self._sample(clock)
        return self._next - time.monotonic()

    def _sample(self, clock: float) -> None:
        members = {member.plan.rank: member for member in self.gang.running}
        pids = {rank: member.process.pid for rank, member in members.items()}
        samples = self.sampler.measure(pids, clock=clock)
        for rank, sample in samples.items():
            _hold_memory_limit(members[rank], sample)
        if not self._written:
            self._written = clock  # the first only sets the clock: cores need a time between two
        elif clock - self._written >= EVERY:
            self._written = clock
            self._write(samples)

    def _write(self, samples: dict[int, Sample]) -> None:
        at, attempt = now(), self.gang.record.attempt
        lines: list[Json] = [
            {
                "rank": rank,
                "attempt": attempt,
                "at": at,
                "cpu": sample.cpu,
                "memory": sample.memory,
            }
            for rank, sample in samples.items()
        ]
        sampling.append(self.folder.usage(self.plan.run), lines)


def _hold_memory_limit(member: Member, sample: Sample) -> None:
    limit = member.plan.memory_limit
    if limit is None or not member.watches_memory or sample.memory <= limit:
        return
    used = sampling.private_memory(member.process.pid)  # dear, and so only asked when it matters
    if used > limit:
        member.killed_for = (
            f"used {words.size(used)} of memory, more than its limit of {words.size(limit)}"
        )
        processes.signal_group(member.process.pid, signal.SIGKILL)
