"""Submits a run to Slurm exactly once, even if an answer is lost."""

from datetime import UTC, datetime, timedelta

from engines.base import EngineRefused, EngineUnavailable, Launch
from engines.slurm import charging
from engines.slurm.client import files, programs
from engines.slurm.client.courier import AGAIN, LATE, NEW, REFUSED, Courier, RunParcel
from engines.slurm.layout import SharedFolder, job_name
from engines.slurm.queue.commands import is_full, refusal, sacct, squeue
from engines.slurm.queue.jobs import BatchJob
from engines.slurm.queue.reader import QueueReader
from engines.slurm.script.rank.containers import part_options
from engines.slurm.script.render import is_secret
from engines.slurm.script.render import render_files as scripts
from engines.slurm.script.site import SlurmSite
from engines.slurm.status.facts import RunFacts, launch_line, parse_facts

#: Time in which a submission with a lost answer may still create a job: clients wait this long.
IN_FLIGHT = timedelta(seconds=30)
MAY_ARRIVE = "An earlier try may still reach Slurm; looking again in a moment."


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
        """Submit the launch, unless it was submitted. Raises ``EngineRefused`` or
        ``EngineUnavailable``.

        If the run's folder is new, nothing can have been submitted under its name; otherwise Slurm
        is asked first.
        """
        if self.launch.run > 1 and not self._may_start():
            return
        if self._send() == AGAIN:
            self._submit_again()

    def _may_start(self) -> bool:
        """Whether the previous run is over, and neither this nor a later run exists."""
        latest = self._read_latest()
        if latest is None or latest.run == self.launch.run:
            return True
        if latest.run > self.launch.run:
            return False  # a late call for an earlier run
        if not latest.finished and not latest.verdict:
            name = job_name(self.launch.handle.workload_id, latest.run)
            jobs = squeue(self.transport, names=[name])
            if any(not job.is_over for job in jobs):
                raise EngineUnavailable(f"run {latest.run} is still ending")
        return True

    def _read_latest(self) -> RunFacts | None:
        directory = self.site.directory
        folders = files.latest_runs(self.transport, directory, self.folder.relative)
        texts = dict(files.read_facts(self.transport, directory, folders))
        return parse_facts(texts[folders[0]]) if folders else None

    def _send(self, mode: str = NEW) -> str:
        contents = scripts(self.launch, self.site)
        line = launch_line(
            self.launch,
            datetime.now(UTC),
            part_options(self.launch, self.site),
            charging.excess(self.launch, self.site),
        )
        files_of_run = {**contents, "launch": line + "\n"}
        readable = {"launch", *(name for name in contents if not is_secret(name))}
        group_readable = readable if self.site.own_names else frozenset[str]()
        parcel = RunParcel(
            self.folder.relative, self.launch.run, mode, files_of_run, group_readable
        )
        outcome, _, message = self.courier.hand_over(parcel).partition(" ")
        if outcome == LATE:
            raise EngineUnavailable(f"Slurm does not accept jobs now; {self.name} was not tried.")
        if outcome == REFUSED:
            error = refusal(message)
            if isinstance(error, EngineRefused) or is_full(message):
                self._withdraw()
            raise error
        return outcome

    def _submit_again(self) -> None:
        """Submit a run whose folder exists already, unless it has a job or may still get one."""
        latest = self._read_latest()
        if latest and latest.run > self.launch.run:
            return
        if latest and latest.is_taken:
            return
        created = latest.created if latest else datetime.now(UTC) - 2 * IN_FLIGHT
        if job := self._find_job(created):
            files.run_program(
                self.transport, programs.ADOPT, self.folder.run(self.launch.run), job.id
            )
            return
        if datetime.now(UTC) - created < IN_FLIGHT + timedelta(seconds=self.queue.interval):
            raise EngineUnavailable(MAY_ARRIVE)
        self._send(AGAIN)

    def _find_job(self, created: datetime) -> BatchJob | None:
        """Return the job of an earlier try, or ``None``.

        Jobs that a refused submission left do not count. The run would fail because of them,
        although it only has to wait, such as for the account's limit of jobs.
        """
        jobs = [job for job in self.queue.recent() if job.name == self.name and not job.was_refused]
        since = created - timedelta(minutes=5)
        if not jobs:
            accounted = sacct(self.transport, [self.name], since=since)
            jobs = [job for job in accounted if not job.was_refused]
        return min(jobs, key=lambda job: (job.is_over, int(job.id)), default=None)

    def _withdraw(self) -> None:
        files.run_program(self.transport, programs.WITHDRAW, self.folder.path, str(self.launch.run))
