"""Submit a run to Slurm exactly once, even if an answer is lost."""

from datetime import UTC, datetime, timedelta

from engines.base import EngineRefused, EngineUnavailable, Launch
from engines.slurm.client import files, programs
from engines.slurm.client.courier import AGAIN, LATE, NEW, REFUSED, Courier, Parcel
from engines.slurm.layout import SharedFolder, job_name
from engines.slurm.queue.commands import is_full, refusal, sacct, squeue
from engines.slurm.queue.jobs import BatchJob
from engines.slurm.queue.reader import QueueReader
from engines.slurm.script.rank.containers import inside
from engines.slurm.script.render import files as scripts
from engines.slurm.script.render import is_secret
from engines.slurm.script.site import SlurmSite
from engines.slurm.status.facts import RunFacts, launch_line, parse_facts

#: Time in which a submission with a lost answer may still create a job: clients wait this long.
ON_ITS_WAY = timedelta(seconds=30)
MAY_COME = "An earlier try may still reach Slurm; looking again in a moment."


class Submission:
    """The submission of one launch."""

    def __init__(
        self, courier: Courier, queue: QueueReader, site: SlurmSite, launch: Launch
    ) -> None:
        self.courier = courier
        self.queue = queue
        self.site = site
        self.launch = launch
        self.transport = courier.transport
        self.folder = SharedFolder(site.directory, launch.handle.workload_id)
        self.name = job_name(launch.handle.workload_id, launch.run)

    def submit(self) -> None:
        """Submit the launch, unless it has been. If the run's folder is new, nothing can have been
        submitted under its name; otherwise Slurm is asked first. Raises ``EngineRefused`` or
        ``EngineUnavailable``."""
        if self.launch.run > 1 and not self._may_follow():
            return
        if self._hand_over() == AGAIN:
            self._once_more()

    def _may_follow(self) -> bool:
        """Whether the previous run is over and neither this nor a later one exists yet."""
        before = self._latest()
        if before is None or before.run == self.launch.run:
            return True
        if before.run > self.launch.run:
            return False  # a late call for an earlier run
        if not before.finished and not before.verdict:
            name = job_name(self.launch.handle.workload_id, before.run)
            jobs = squeue(self.transport, names=[name])
            if any(not job.is_over for job in jobs):
                raise EngineUnavailable(f"run {before.run} is still ending")
        return True

    def _latest(self) -> RunFacts | None:
        directory = self.site.directory
        there = files.latest_runs(self.transport, directory, self.folder.relative)
        texts = dict(files.facts(self.transport, directory, there))
        return parse_facts(texts[there[0]]) if there else None

    def _hand_over(self, how: str = NEW) -> str:
        contents = scripts(self.launch, self.site)
        line = launch_line(self.launch, datetime.now(UTC), inside(self.launch, self.site))
        files_of_run = {**contents, "launch": line + "\n"}
        open_ones = {"launch", *(name for name in contents if not is_secret(name))}
        shown = open_ones if self.site.own_names else frozenset[str]()
        parcel = Parcel(self.folder.relative, self.launch.run, how, files_of_run, shown)
        outcome, _, said = self.courier.hand_over(parcel).partition(" ")
        if outcome == LATE:
            raise EngineUnavailable(f"Slurm does not accept jobs now; {self.name} was not tried.")
        if outcome == REFUSED:
            error = refusal(said)
            if isinstance(error, EngineRefused) or is_full(said):
                self._withdraw()
            raise error
        return outcome

    def _once_more(self) -> None:
        """Submit a run whose folder exists already, unless a job of it exists or may still come."""
        latest = self._latest()
        if latest and latest.run > self.launch.run:
            return
        if latest and latest.is_taken:
            return
        created = latest.created if latest else datetime.now(UTC) - 2 * ON_ITS_WAY
        if job := self._found(created):
            files.sh(self.transport, programs.ADOPT, self.folder.run(self.launch.run), job.id)
            return
        if datetime.now(UTC) - created < ON_ITS_WAY + timedelta(seconds=self.queue.interval):
            raise EngineUnavailable(MAY_COME)
        self._hand_over(AGAIN)

    def _found(self, created: datetime) -> BatchJob | None:
        """The job of an earlier try. What a refused submission left does not count: the run would
        fail because of it, although it only has to wait, for example for the account's limit of
        jobs."""
        jobs = [job for job in self.queue.recent() if job.name == self.name and not job.was_refused]
        since = created - timedelta(minutes=5)
        if not jobs:
            accounted = sacct(self.transport, [self.name], since=since)
            jobs = [job for job in accounted if not job.was_refused]
        return min(jobs, key=lambda job: (job.is_over, int(job.id)), default=None)

    def _withdraw(self) -> None:
        files.sh(self.transport, programs.WITHDRAW, self.folder.path, str(self.launch.run))
