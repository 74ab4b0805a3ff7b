"""Tends a running gang: takes samples, measures volumes, and enforces limits."""

import logging
import signal
import time
from dataclasses import dataclass
from datetime import datetime

from engines.local.records.layout import Folder, Json
from engines.local.records.plan import GangPlan
from engines.local.records.state import Record, monotonic_now
from engines.local.supervisor.gang import Gang, Member
from engines.local.system import processes, sampling
from engines.local.system.exit import size
from engines.local.system.sampling import ProcessSample, Sampler
from engines.local.volumes.sizes import Sizes
from spec.phases import RankPhase

logger = logging.getLogger(__name__)

EVERY = 1.0  # seconds between samples
CLOSELY = 0.2  # the same, while the supervisor has to enforce a memory limit


@dataclass
class Tending:
    """The work that a running gang needs every second. The supervisor calls ``tick`` for it."""

    folder: Folder
    plan: GangPlan
    gang: Gang
    has_news: bool = False  # records of ranks have changed
    _next: float = 0.0
    _written: float = 0.0
    _lost: int = 0  # consecutive samples that could not be written

    def __post_init__(self) -> None:
        self.sampler = Sampler(self.folder.path)
        self.sizes = Sizes(self.folder, self.plan)

    @property
    def overfull(self) -> str:
        """The volume that exceeds its limit, in words; empty if none does."""
        return self.sizes.trouble

    @property
    def left(self) -> float:
        """Seconds until its time limit; infinite without one, negative past it."""
        limit = self.plan.time_limit
        return float("inf") if limit is None else limit - self.gang.ran

    def tick(self) -> float:
        """Do what is due, and return the seconds until the next call, or until the time limit."""
        clock = time.monotonic()
        if self.sizes.tick():
            for member in self.gang.running:
                held = self.sizes.held(member.plan.name)
                member.record.message = " ".join(filter(None, (member.said, held)))
            self.has_news = True
        if clock >= self._next:
            watched = any(member.watches_memory for member in self.gang.running)
            self._next = clock + (CLOSELY if watched else EVERY)
            self._sample(clock)
        wait = self._next - time.monotonic()
        return min(wait, self.left) if self.left > 0 else wait

    def _sample(self, clock: float) -> None:
        """Measure all running ranks, hold them to their memory limits, and write the sample if it
        is due."""
        members = {member.plan.rank: member for member in self.gang.running}
        pids = {rank: member.process.pid for rank, member in members.items()}
        samples = self.sampler.measure(pids, clock=clock)
        for rank, member in members.items():
            self._hold_memory_limit(member, samples.get(rank))
        if not self._written:
            self._written = clock  # the first only sets the clock: CPU usage needs two
        elif clock - self._written >= EVERY:
            self._written = clock
            at = monotonic_now()
            self._write([self._line(members[it], at, sample) for it, sample in samples.items()])

    def _line(self, member: Member, at: str, sample: ProcessSample) -> Json:
        plan = member.plan
        gpus = self.gang.gauge.usage(plan.visible_gpus, sample.pids, shares=plan.shares_gpus)
        return {
            "rank": plan.rank,
            "attempt": self.gang.record.attempt,
            "at": at,
            "cpu": sample.cpu,
            "memory": sample.memory,
            "gpu": gpus.utilization,
            "gpu_memory": gpus.memory,
        }

    def _write(self, lines: list[Json]) -> None:
        """Append a sample of each rank to the file of usage. If the disk is full, they are
        dropped."""
        try:
            sampling.append(self.folder.usage(self.plan.run), lines)
        except OSError as error:  # full disk: the training matters more than samples
            if not self._lost:
                logger.warning("Usage cannot be written, and is left out: %s", error)
            self._lost += len(lines)
        else:
            if self._lost:
                logger.warning("Usage is written again; %d samples were left out", self._lost)
            self._lost = 0

    def _hold_memory_limit(self, member: Member, sample: ProcessSample | None) -> None:
        """Kill a rank that exceeds its memory limit, or what is left of one after the kernel killed
        a process of it."""
        limit = member.plan.memory_limit
        pid = member.process.pid
        rank = member.plan.rank
        if limit is None:
            return
        if member.watches_memory and sample and sample.memory > limit:
            # Private memory is slow to measure, so it is only done once the sample exceeds the
            # limit.
            used = sampling.private_memory(self.folder.path, rank, pid)
            if used > limit:
                said = f"used {size(used)} of memory, more than its limit of {size(limit)}"
                member.killed_for = said
        if member.ran_out_of_memory:
            processes.signal_group(pid, signal.SIGKILL)


def ran_until_lost(folder: Folder, record: Record) -> float:
    """Return the seconds that a gang ran until its last sample, after its supervisor was killed."""
    alive = [rank for rank in record.ranks if rank.phase is RankPhase.RUNNING]
    since = max((rank.started_at for rank in alive if rank.started_at), default="")
    samples = sampling.read(folder.usage(record.run), after=since) if since else []
    if not samples:
        return 0.0
    last, first = (datetime.fromisoformat(at) for at in (samples[-1]["at"], since))
    return (last - first).total_seconds()
