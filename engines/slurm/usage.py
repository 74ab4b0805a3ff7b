"""What ranks use, by ``sstat``: one call for all that runs on a cluster, now and then.

Slurm adds up the tasks of a step, so each rank of a part shows its share of the sum. CPU time comes
in whole seconds.
"""

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from engines.base import EngineUnavailable, UsageSample
from engines.slurm.client.transport import Transport
from engines.slurm.watch.poll import Glance

EVERY = 30.0  # seconds between two samples; each asks the nodes of all jobs that are in it
AT_ONCE = 64  # jobs of one call, in turn
COLUMNS = "JobID,TRESUsageInTot,TRESUsageInAve"
TIME = re.compile(r"(?:(\d+)-)?(\d+):(\d+):(\d+)")
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
ASIDE = {"batch", "extern"}  # steps that are no ranks


@dataclass
class StepUsage:
    """Of all running steps of one job, or part of one: seconds, bytes; percent and bytes of GPUs,
    the mean of its tasks, where Slurm gathers that."""

    cpu: float = 0.0
    memory: int = 0
    gpu: float | None = None
    gpu_memory: int | None = None


Mark = tuple[UUID, int, int]  # workload, run, attempt


@dataclass
class StepSampler:
    """``latest`` holds the newest samples of each workload, of the run that has them."""

    transport: Transport
    every: float = EVERY
    _taken: float = float("-inf")
    _turn: int = 0
    _latest: dict[UUID, tuple[int, list[UsageSample]]] = field(default_factory=dict)
    _before: dict[tuple[Mark, str], tuple[float, float]] = field(default_factory=dict)

    def refresh(self, glances: Iterable[Glance]) -> Set[UUID]:
        """Take samples if it is time to; the workloads that they are of."""
        now = time.monotonic()
        if now - self._taken < self.every:
            return set()
        self._taken = now
        running = sorted((it for it in glances if is_running(it)), key=lambda it: it.uid)
        chosen = self._in_turn(running)
        if not chosen:
            self._latest = {}
            return set()
        used, uids = self._asked(chosen), {it.uid for it in running}
        self._before = {key: it for key, it in self._before.items() if key[0][0] in uids}
        at = datetime.now(UTC)
        self._latest = {it.uid: (it.facts.run, list(self._samples(it, used, at))) for it in chosen}
        return {uid for uid, (_, samples) in self._latest.items() if samples}

    def read(self, uid: UUID, run: int, after: datetime | None) -> list[UsageSample]:
        of_run, samples = self._latest.get(uid, (run, []))
        return [it for it in samples if of_run == run and (after is None or it.at > after)]

    def _in_turn(self, running: Sequence[Glance]) -> Sequence[Glance]:
        if len(running) <= AT_ONCE:
            return running
        self._turn = self._turn % len(running)
        chosen = [*running, *running][self._turn : self._turn + AT_ONCE]
        self._turn += AT_ONCE
        return chosen

    def _asked(self, glances: Iterable[Glance]) -> Mapping[str, StepUsage]:
        """By the id of the job or part; nothing where Slurm gathers nothing or does not answer."""
        ids = [job_id for it in glances for job_id, _ in parts(it)]
        words = ["sstat", "--noheader", "--parsable2", "--allsteps", f"--format={COLUMNS}"]
        try:
            return added_up(self.transport.run([*words, f"--jobs={','.join(ids)}"]).out)
        except EngineUnavailable:
            return {}

    def _samples(
        self, glance: Glance, used: Mapping[str, StepUsage], at: datetime
    ) -> Iterator[UsageSample]:
        mark = (glance.uid, glance.facts.run, glance.facts.attempt)
        for job_id, ranks in parts(glance):
            if usage := used.get(job_id):
                cores, share = self._cores(mark, job_id, usage), len(ranks)
                cpu = None if cores is None else round(cores / share, 3)
                for rank in ranks:
                    yield UsageSample(
                        rank,
                        glance.facts.attempt,
                        at,
                        cpu,
                        usage.memory // share,
                        usage.gpu,
                        usage.gpu_memory,
                    )

    def _cores(self, mark: Mark, job_id: str, usage: StepUsage) -> float | None:
        """Since the sample before; ``None`` at the first, and where steps ended meanwhile."""
        before = self._before.get((mark, job_id))
        self._before[mark, job_id] = self._taken, usage.cpu
        if before is None or usage.cpu < before[1] or self._taken <= before[0]:
            return None
        return (usage.cpu - before[1]) / (self._taken - before[0])


def is_running(glance: Glance) -> bool:
    facts, job = glance.facts, glance.job
    return bool(job and job.state == "RUNNING" and facts.attempt >= 0 and not facts.finished)


def parts(glance: Glance) -> Iterator[tuple[str, Sequence[int]]]:
    """Id and ranks of each part of the job: a heterogeneous one has the master's, then the
    workers', whose id is the next. A launcher is no task."""
    ranks = range(int(glance.facts.launcher), len(glance.facts.roles))
    number = glance.job.id if glance.job else ""
    if glance.facts.parts == 1 or not number.isdigit():
        yield number, ranks
    else:
        yield number, ranks[:1]
        yield str(int(number) + 1), ranks[1:]


def added_up(text: str) -> dict[str, StepUsage]:
    """What ``sstat`` printed, with ``COLUMNS``."""
    results: dict[str, StepUsage] = defaultdict(StepUsage)
    for line in text.splitlines():
        step, _, rest = line.partition("|")
        job, _, name = step.partition(".")
        total, _, mean = rest.partition("|")
        if not name or name in ASIDE:
            continue
        values, average, usage = _values(total), _values(mean), results[job]
        usage.cpu += _seconds(values.get("cpu", ""))
        usage.memory += _bytes(values.get("mem", ""))
        if "gres/gpuutil" in average:
            usage.gpu = float(_bytes(average["gres/gpuutil"]))
        if "gres/gpumem" in average:
            usage.gpu_memory = _bytes(average["gres/gpumem"])
    return dict(results)


def _values(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split(","))
    return {name: value for name, sign, value in pairs if sign}


def _seconds(text: str) -> float:
    match = TIME.match(text)
    days, hours, minutes, seconds = (int(it or 0) for it in match.groups()) if match else (0,) * 4
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def _bytes(text: str) -> int:
    number, unit = (text[:-1], text[-1]) if text[-1:] in UNITS and text else (text, "")
    try:
        return int(float(number) * UNITS[unit])
    except ValueError:
        return 0
