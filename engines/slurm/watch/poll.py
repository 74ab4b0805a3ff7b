"""Look at a cluster once: its queue, what changed on its shared directory, and what both mean."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from engines.base import Observation
from engines.slurm.client import files, programs
from engines.slurm.client.transport import Transport
from engines.slurm.layout import SharedFolder, job_name
from engines.slurm.queue.commands import sacct
from engines.slurm.queue.jobs import BatchJob, job_of_run, jobs_by_name
from engines.slurm.queue.reader import QueueReader
from engines.slurm.status.facts import RunFacts, format_verdict, parse_facts
from engines.slurm.status.observation import observe

#: Accounting is asked for a missing job for this long, measured from the first look that missed it.
PATIENCE = timedelta(seconds=120)
#: A missing job is presumed to be unchanged for this long: it may be about to enter the queue or to
#: leave it.
MISSED_FOR = timedelta(seconds=15)
HEX = re.compile(r"[0-9a-f]{32}")
EARLIER = timedelta(minutes=5)  # the clock of Slurm may be behind ours by this much
#: Accounting is not searched further back, whatever the files say about when a run was created.
FAR_BACK = timedelta(days=30)

# Prints when each workload changed, and all names if workloads came or went since the last look, at
# $2. If the directory is not available it fails, as that says nothing about the workloads.
BELLS = r"""
cd "$1" || exit 4
[ -n "$2" ] || mkdir -p changed workloads || exit 4
find changed -type f -printf '%f %T@\n' 2>/dev/null
at=$(stat -c %y workloads) || exit 4
echo "at $at"
[ "$at" = "$2" ] || ls workloads
exit 0
"""


@dataclass(frozen=True)
class Glance:
    """A workload at the time of a look. ``job`` is ``None`` if Slurm does not know it. ``earlier``
    is its last start, if it was queued again."""

    uid: UUID
    facts: RunFacts
    job: BatchJob | None
    at: datetime
    earlier: BatchJob | None = None

    @property
    def observation(self) -> Observation:
        return observe(self.uid, self.facts, self.job, self.at, earlier=self.earlier)


@dataclass(frozen=True)
class Bells:
    """When each workload last changed, according to the shared directory, and which workloads
    exist; ``None`` if these are the same as before."""

    rung: dict[UUID, str]
    there: set[UUID] | None
    at: str


@dataclass
class Looker:
    """Looks at the workloads in one directory. ``last`` has the latest glance at each."""

    transport: Transport
    directory: str
    queue: QueueReader
    last: dict[UUID, Glance] = field(default_factory=dict)
    _missing: dict[str, datetime] = field(default_factory=dict)
    _earlier: dict[str, tuple[int, BatchJob]] = field(default_factory=dict)

    def bells(self, since: str = "") -> Bells:
        """Which workloads changed and exist. ``since`` is the ``at`` of an earlier answer: names
        are only listed again if workloads came or went after it."""
        answer = files.run_program(self.transport, BELLS, self.directory, since)
        rung = dict[UUID, str]()
        there = set[UUID]()
        at = ""
        for line in files.output_of(answer, files.unreadable_message(self.directory)).splitlines():
            name, _, rest = line.partition(" ")
            if name == "at":
                at = rest
            elif HEX.fullmatch(name) and rest:
                rung[UUID(name)] = rest
            elif HEX.fullmatch(name):
                there.add(UUID(name))
        return Bells(rung, there if at != since else None, at)

    def all(self, jobs: Sequence[BatchJob]) -> list[Glance]:
        """A glance at every workload in the directory. ``jobs`` is the queue, which was
        just read."""
        at = datetime.now(UTC)
        prune = files.with_last_run(programs.PRUNE_BELLS, of_people=self._of_people)
        files.run_program(self.transport, prune, self.directory)
        folders = self._latest_runs()
        glances = list(self._glances(folders, jobs, at))
        self.last = {glance.uid: glance for glance in glances}
        return glances

    def some(self, uids: Iterable[UUID], jobs: Sequence[BatchJob] | None = None) -> list[Glance]:
        """A glance at each of these workloads. ``jobs`` is the queue, if it was just read."""
        asked = set(uids)
        for uid in asked:
            self.last.pop(uid, None)
        wanted = [SharedFolder(self.directory, uid).relative for uid in asked]
        if not wanted:
            return []
        folders = self._latest_runs(*wanted)
        at = datetime.now(UTC)
        if jobs is None:
            names = [job_name(*_workload_and_run(folder)) for folder in folders]
            jobs = self.queue.named(*names) if names else []
        return list(self._glances(folders, jobs, at))

    @property
    def _of_people(self) -> bool:
        return bool(self.queue.owners_in)

    def _latest_runs(self, *workloads: str) -> list[str]:
        return files.latest_runs(
            self.transport, self.directory, *workloads, of_people=self._of_people
        )

    def _facts(self, folders: Sequence[str]) -> Iterator[tuple[str, RunFacts]]:
        """The facts of the runs in these folders, without those that cannot be read."""
        written = files.read_facts(
            self.transport, self.directory, folders, of_people=self._of_people
        )
        for folder, texts in written:
            facts = parse_facts(texts)
            if facts and facts.run == _workload_and_run(folder)[1]:
                yield folder, facts

    def _glances(
        self, folders: Sequence[str], jobs: Iterable[BatchJob], at: datetime
    ) -> Iterator[Glance]:
        """Glances at runs. The facts are read after the queue, so that an end in the queue has been
        recorded by then. Runs that Slurm has not accepted yet are left out."""
        queued = jobs_by_name(jobs)
        results: dict[str, tuple[RunFacts, BatchJob | None]] = {}
        for folder, facts in self._facts(folders):
            job = job_of_run(queued.get(job_name(*_workload_and_run(folder)), ()), facts.number)
            results[folder] = facts, job
        results |= self._accounted(results, at)
        earlier = self._queued_again(results, at)
        over = {
            folder: job
            for folder, (facts, job) in results.items()
            if job and job.is_over and not facts.verdict
        }
        self._keep(over)
        for folder, (facts, job) in results.items():
            if job is None and not facts.is_taken:
                continue
            glance = Glance(_workload_and_run(folder)[0], facts, job, at, earlier.get(folder))
            self.last[glance.uid] = glance
            yield glance

    def _accounted(
        self, results: dict[str, tuple[RunFacts, BatchJob | None]], at: datetime
    ) -> dict[str, tuple[RunFacts, BatchJob | None]]:
        """Find the jobs of runs that left the queue without a recorded end. Accounting is asked for
        them until each has been missing for ``PATIENCE``; a job that it does not know either is
        presumed.

        For example, a job is submitted at 12:00:00, ends at 12:05:00, and accounting learns of its
        end at 12:05:20:

        - The look at 12:05:02 misses it for the first time: it is presumed to be running.
        - The looks until 12:05:17 ask accounting, and still presume it.
        - The look at 12:05:18 finds neither a job nor an end: the run has no job.
        - The look at 12:05:22 gets the end from accounting.
        """
        lost = {
            folder: facts
            for folder, (facts, job) in results.items()
            if job is None and facts.number and not facts.verdict and not facts.finished
        }
        missing_before = self._missing
        self._missing = self._missed(lost, results, at)
        waiting = {
            folder: facts for folder, facts in lost.items() if at - self._missing[folder] < PATIENCE
        }
        # The queue may have been read before a job was submitted, so a job that is missing for the
        # first time is not worth a call.
        repeated = {folder: facts for folder, facts in waiting.items() if folder in missing_before}
        ends = self._ends_in_accounting(repeated, at)
        found: dict[str, tuple[RunFacts, BatchJob | None]] = {}
        for folder, facts in waiting.items():
            job = ends.get(folder)
            if job is None:
                job = self._presumed_job(folder, facts, at, is_first_miss=folder not in repeated)
            found[folder] = (facts, job)
        return found

    def _ends_in_accounting(
        self, runs: Mapping[str, RunFacts], at: datetime
    ) -> dict[str, BatchJob]:
        """Ask accounting, in one call, for the last end of each run's job."""
        if not runs:
            return {}
        names = {folder: job_name(*_workload_and_run(folder)) for folder in runs}
        created = (facts.created for facts in runs.values())
        accounted = self._sacct(list(names.values()), created, at)
        ends: dict[str, BatchJob] = {}
        for folder, facts in runs.items():
            if end := last_end(accounted.get(names[folder], ()), facts):
                ends[folder] = end
        return ends

    def _presumed_job(
        self, folder: str, facts: RunFacts, at: datetime, *, is_first_miss: bool
    ) -> BatchJob | None:
        """Return the job as it was last known, because it may be about to enter the queue or to
        leave it; ``None`` if it has been missing for too long.

        A job that was submitted long ago and asked to stop counts as gone at the first miss, so
        that a process that looks only once, such as an engine for a single call, sees that it has
        stopped.
        """
        is_long_ago = at - facts.created > PATIENCE
        if facts.stopped and (not is_first_miss or is_long_ago):
            return None
        if not is_first_miss and at - self._missing[folder] > MISSED_FOR:
            return None
        state = "RUNNING" if facts.attempt >= 0 else "PENDING"
        name = job_name(*_workload_and_run(folder))
        return BatchJob(facts.number, name, state, reason="None")

    def _missed(
        self, lost: Container[str], results: Mapping[str, object], at: datetime
    ) -> dict[str, datetime]:
        """Return since when each job has been missing, including those that this look leaves
        out."""
        others = {
            it: since
            for it, since in self._missing.items()
            if it not in results and at - since < PATIENCE
        }
        return others | {it: self._missing.get(it, at) for it in results if it in lost}

    def _sacct(
        self, names: Sequence[str], created: Iterable[datetime], at: datetime
    ) -> dict[str, list[BatchJob]]:
        since = max(min(created) - EARLIER, at - FAR_BACK)
        owners_in = self.queue.owners_in
        return jobs_by_name(sacct(self.transport, names, since=since, owners_in=owners_in))

    def _queued_again(
        self, results: Mapping[str, tuple[RunFacts, BatchJob | None]], at: datetime
    ) -> dict[str, BatchJob]:
        """Return how the last start ended, for each job that Slurm queued again. Only accounting
        knows that; it is asked once for each start, in one call."""
        again = {
            folder: facts
            for folder, (facts, job) in results.items()
            if job and job.is_queued and facts.attempt >= 0
        }
        unasked = {
            job_name(*_workload_and_run(folder)): folder
            for folder, facts in again.items()
            if self._earlier.get(folder, (-1,))[0] != facts.attempt
        }
        if unasked:
            created = (again[folder].created for folder in unasked.values())
            for name, jobs in self._sacct(list(unasked), created, at).items():
                over = [job for job in jobs if job.is_over or job.state == "REQUEUED"]
                if over:
                    self._earlier[unasked[name]] = again[unasked[name]].attempt, over[-1]
        self._earlier = {folder: end for folder, end in self._earlier.items() if folder in again}
        return {it: job for it, (_, job) in self._earlier.items()}

    def _keep(self, over: Mapping[str, BatchJob]) -> None:
        lines = "".join(f"{folder} {format_verdict(job)}\n" for folder, job in over.items())
        if lines:
            files.run_program(
                self.transport, programs.WRITE_ENDS, self.directory, stdin=lines.encode()
            )


def last_end(jobs: Sequence[BatchJob], facts: RunFacts) -> BatchJob | None:
    """The last end of the run's job in accounting, which has a line for each start. Others do not
    count: accounting may keep showing a job as waiting that Slurm has lost, and has refused
    submissions with the same name as failed jobs."""
    own = [job for job in jobs if job.is_over and job.id == facts.number]
    return own[-1] if own else None


def _workload_and_run(folder: str) -> tuple[UUID, int]:
    """Workload and run of a folder ``workloads/<hex>/runs/<run>``."""
    _, uid, _, run = folder.split("/")
    return UUID(uid), int(run)
