"""Monitors a running gang: takes samples, measures volumes, and enforces limits."""

import logging
import math
import signal
import time
from dataclasses import dataclass
from datetime import datetime

from engines.local.records.layout import Folder, Json
from engines.local.records.plan import GangPlan
from engines.local.records.state import Record, monotonic_now
from engines.local.supervisor.gang import Gang, Member
from engines.local.system import processes, sampling
from engines.local.system.exit import format_size
from engines.local.system.sampling import ProcessSample, Sampler
from engines.local.volumes.sizes import VolumeSizes
from spec.phases import RankPhase

logger = logging.getLogger(__name__)

EVERY = 1.0  # seconds between samples
EVERY_UNDER_LIMIT = 0.2  # the same, while the supervisor has to enforce a memory limit


@dataclass
class GangMonitor:
    """Monitors one attempt. The supervisor calls ``tick`` about every second."""

    folder: Folder
    plan: GangPlan
    gang: Gang
    has_changes: bool = False  # records of ranks have changed
    _next_sample_at: float = 0.0
    _written_at: float = 0.0
    _dropped: int = 0  # consecutive samples that could not be written

    def __post_init__(self) -> None:
        self.sampler = Sampler(self.folder.path)
        self.sizes = VolumeSizes(self.folder, self.plan)

    @property
    def volume_excess(self) -> str:
        """A sentence about a volume that exceeds its limit; empty if none does."""
        return self.sizes.excess

    @property
    def seconds_left(self) -> float:
        """Seconds until the time limit; infinite without one, negative past it."""
        limit = self.plan.time_limit
        return math.inf if limit is None else limit - self.gang.ran_seconds

    def tick(self) -> float:
        """Do what is due, and return the seconds until the next call, or until the time limit."""
        clock = time.monotonic()
        if self.sizes.tick():
            for member in self.gang.running:
                sizes = self.sizes.describe(member.plan.name)
                member.record.message = " ".join(filter(None, (member.remark, sizes)))
            self.has_changes = True
        if clock >= self._next_sample_at:
            watched = any(member.watches_memory for member in self.gang.running)
            self._next_sample_at = clock + (EVERY_UNDER_LIMIT if watched else EVERY)
            self._sample(clock)
        wait = self._next_sample_at - time.monotonic()
        return min(wait, self.seconds_left) if self.seconds_left > 0 else wait

    def _sample(self, clock: float) -> None:
        """Measure all running ranks, hold them to their memory limits, and write the sample if it
        is due."""
        members = {member.plan.rank: member for member in self.gang.running}
        pids = {rank: member.process.pid for rank, member in members.items()}
        samples = self.sampler.measure(pids, clock=clock)
        for rank, member in members.items():
            self._enforce_memory_limit(member, samples.get(rank))
        if not self._written_at:
            self._written_at = clock  # the first only sets the clock: CPU usage needs two
        elif clock - self._written_at >= EVERY:
            self._written_at = clock
            at = monotonic_now()
            lines = [
                self._usage_line(members[rank], at, sample) for rank, sample in samples.items()
            ]
            self._write_usage(lines)

    def _usage_line(self, member: Member, at: str, sample: ProcessSample) -> Json:
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

    def _write_usage(self, lines: list[Json]) -> None:
        """Append a sample of each rank to the usage file. They are dropped if the disk is full."""
        try:
            sampling.append_samples(self.folder.usage(self.plan.run), lines)
        except OSError as error:  # the training matters more than samples
            if not self._dropped:
                logger.warning("Usage cannot be written, and is left out: %s", error)
            self._dropped += len(lines)
        else:
            if self._dropped:
                logger.warning("Usage is written again; %d samples were left out", self._dropped)
            self._dropped = 0

    def _enforce_memory_limit(self, member: Member, sample: ProcessSample | None) -> None:
        """Kill a rank that exceeds its memory limit, or one of which the kernel killed a process
        at the limit."""
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
                sizes = (
                    f"{format_size(used)} of memory, more than its limit of {format_size(limit)}"
                )
                member.kill_reason = f"used {sizes}"
        if member.ran_out_of_memory:
            processes.signal_group(pid, signal.SIGKILL)


def seconds_until_lost(folder: Folder, record: Record) -> float:
    """Return the seconds that a gang ran from the start of its last rank to its last sample.

    It is for an attempt whose supervisor was killed; samples are the only trace of its duration.
    """
    running = [rank for rank in record.ranks if rank.phase is RankPhase.RUNNING]
    since = max((rank.started_at for rank in running if rank.started_at), default="")
    samples = sampling.read_samples(folder.usage(record.run), after=since) if since else []
    if not samples:
        return 0.0
    started_at = datetime.fromisoformat(since)
    last_sample_at = datetime.fromisoformat(samples[-1]["at"])
    return (last_sample_at - started_at).total_seconds()
