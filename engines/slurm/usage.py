"""Samples the usage of ranks, with one call of ``sstat`` for everything that runs on a cluster.

Only the user of a job may call ``sstat`` for it. So jobs that run under people's own names call it
themselves and record the result. Slurm sums up the tasks of a step, so each rank of a part gets an
equal share. CPU time is in whole seconds.
"""

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from engines.base import EngineUnavailable, UsageSample
from engines.slurm.client import files
from engines.slurm.client.transport import Transport
from engines.slurm.layout import SharedFolder
from engines.slurm.steps import COLUMNS, SAMPLE_SECONDS, StepUsage, sum_usage
from engines.slurm.watch.poll import Glance

AT = re.compile(r"[0-9]+(\.[0-9]+)?")
MAX_JOBS = 64  # jobs in one call; more take turns
# Prints the records of the jobs in the given folders. They are indented, so that no job can imitate
# another, even if its last line is not complete. Links are not followed. $1 is the directory.
READ_RECORDS = r"""
ENTER
cd -P "$1" 2>/dev/null || exit 0
shared=$(pwd -P)
shift
for d; do
  printf '\nof %s\n' "$d"
  (enter "$d" &&
    dd if=usage iflag=nofollow,nonblock,count_bytes count=8000 status=none 2>/dev/null |
    sed 's/^/ /')
done
exit 0
""".replace("ENTER", files.ENTER)

AttemptKey = tuple[UUID, int, int]  # workload, run, attempt
UsageByJob = Mapping[str, tuple[float, StepUsage]]  # time and usage, by id of the job or part


@dataclass
class StepSampler:
    """Takes usage samples of running steps every ``every`` seconds. ``directory`` is the shared
    directory if jobs record their own usage there, else empty."""

    transport: Transport
    directory: str = ""
    every: float = SAMPLE_SECONDS
    _taken: float = float("-inf")
    _turn: int = 0
    _latest: dict[UUID, tuple[int, list[UsageSample]]] = field(default_factory=dict)
    _before: dict[tuple[AttemptKey, str], tuple[float, float]] = field(default_factory=dict)

    def refresh(self, glances: Iterable[Glance]) -> Set[UUID]:
        """Take samples if they are due, and return the workloads that have new ones."""
        now = time.monotonic()
        if now - self._taken < self.every:
            return set()
        self._taken = now
        running = sorted((it for it in glances if is_running(it)), key=lambda it: it.uid)
        chosen = self._choose(running)
        if not chosen:
            self._latest = {}
            return set()
        used = self._ask(chosen)
        uids = {it.uid for it in running}
        self._before = {key: it for key, it in self._before.items() if key[0][0] in uids}
        at = datetime.now(UTC)
        self._latest = {it.uid: (it.facts.run, list(self._samples(it, used, at))) for it in chosen}
        return {uid for uid, (_, samples) in self._latest.items() if samples}

    def read(self, uid: UUID, run: int, after: datetime | None) -> list[UsageSample]:
        """Return the latest samples of a run, if they are later than ``after``."""
        sampled_run, samples = self._latest.get(uid, (run, []))
        return [it for it in samples if sampled_run == run and (after is None or it.at > after)]

    def _choose(self, running: Sequence[Glance]) -> Sequence[Glance]:
        if len(running) <= MAX_JOBS:
            return running
        self._turn = self._turn % len(running)
        chosen = [*running, *running][self._turn : self._turn + MAX_JOBS]
        self._turn += MAX_JOBS
        return chosen

    def _ask(self, glances: Sequence[Glance]) -> UsageByJob:
        """Return the usage by job. It is empty if Slurm measures nothing or does not answer."""
        ids = [job_id for it in glances for job_id, _ in job_parts(it)]
        words = ["sstat", "--noheader", "--parsable2", "--allsteps", f"--format={COLUMNS}"]
        try:
            if self.directory:
                return self._read_records(glances)
            usages = sum_usage(self.transport.run([*words, f"--jobs={','.join(ids)}"]).out)
        except EngineUnavailable:
            return {}
        return {job_id: (self._taken, usage) for job_id, usage in usages.items()}

    def _read_records(self, glances: Sequence[Glance]) -> UsageByJob:
        """Return the usage that jobs recorded, with times by the clocks of their nodes. A job only
        counts in its own folder."""
        folders = {f"{SharedFolder('', it.uid).run(it.facts.run)}"[1:]: it for it in glances}
        answer = files.run_program(self.transport, READ_RECORDS, self.directory, *folders)
        results: dict[str, tuple[float, StepUsage]] = {}
        for part in ("\n" + answer.out).split("\nof ")[1:]:
            folder, _, text = part.partition("\n")
            first, _, rows = text.partition("\n")
            at = first.removeprefix(" at ")
            usages = sum_usage(rows.replace("\n ", "\n").strip())
            for job_id, _ranks in job_parts(folders[folder]) if folder in folders else ():
                if job_id in usages and AT.fullmatch(at):
                    results[job_id] = float(at), usages[job_id]
        return results

    def _samples(self, glance: Glance, used: UsageByJob, at: datetime) -> Iterator[UsageSample]:
        mark = (glance.uid, glance.facts.run, glance.facts.attempt)
        for job_id, ranks in job_parts(glance):
            if ranks and job_id in used:  # the user of the job may have recorded that it has none
                taken_at, usage = used[job_id]
                cores = self._cores(mark, job_id, taken_at, usage)
                share = len(ranks)
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

    def _cores(
        self, mark: AttemptKey, job_id: str, taken_at: float, usage: StepUsage
    ) -> float | None:
        """Return the CPU cores used since the last sample, or ``None`` if there was none, or if
        steps have ended since."""
        previous = self._before.get((mark, job_id))
        self._before[mark, job_id] = taken_at, usage.cpu
        if previous is None or usage.cpu < previous[1] or taken_at <= previous[0]:
            return None
        return (usage.cpu - previous[1]) / (taken_at - previous[0])


def is_running(glance: Glance) -> bool:
    """Whether the ranks of the run have started and not ended."""
    facts = glance.facts
    job = glance.job
    return bool(job and job.state == "RUNNING" and facts.attempt >= 0 and not facts.finished)


def job_parts(glance: Glance) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield the id and ranks of each part of the job. The parts of a heterogeneous job have ids in
    a row. A launcher is not a task."""
    facts = glance.facts
    number = glance.job.id if glance.job else ""
    if len(facts.parts) < 2 or not number.isdecimal():
        yield number, range(int(facts.launcher), len(facts.roles))
        return
    first = 0
    for part, count in enumerate(facts.parts):
        yield str(int(number) + part), range(first, first + count)
        first += count
