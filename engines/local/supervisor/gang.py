"""One attempt of a gang: its processes, from the first start to the last kill."""

import signal
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from engines.local.batch import starting
from engines.local.batch.job import ScriptJob
from engines.local.planning import mpi, setup
from engines.local.planning.environment import (
    environment,
    expand,
    hide_secrets,
    rendezvous_port_count,
)
from engines.local.records.journal import is_full
from engines.local.records.layout import Folder
from engines.local.records.plan import GangPlan, RankPlan
from engines.local.records.state import RankRecord, Record, monotonic_now
from engines.local.supervisor.spawning import Process, spawn
from engines.local.system import cgroups, exit, marks, nvidia, ports, processes
from engines.local.system.gauge import Gauge
from engines.local.volumes import view
from engines.shared.starts import start_of
from spec.phases import RankPhase, Reason


class SpawnError(Exception):
    """A rank could not be started.

    If ``hopeless``, another attempt would fail, too. If ``lacks_room``, the disk is full.
    """

    def __init__(self, record: RankRecord, error: OSError) -> None:
        self.record = record
        self.hopeless = isinstance(error, FileNotFoundError | PermissionError)
        self.lacks_room = is_full(error)
        program = error.filename or "the process"
        super().__init__(f"could not be started: {program}: {error.strerror or error}")


@dataclass
class Member:
    """A started rank."""

    plan: RankPlan
    record: RankRecord
    process: Process
    cgroup: cgroups.Cgroup
    remark: str = ""  # how it sees its volumes, for people
    kill_reason: str = ""  # why the supervisor killed it; empty if it did not

    @property
    def watches_memory(self) -> bool:
        """Whether the supervisor enforces the memory limit, because the kernel does not."""
        return self.plan.memory_limit is not None and self.cgroup.memory is None

    @property
    def ran_out_of_memory(self) -> bool:
        """Whether the kernel or the supervisor killed one of its processes at the limit."""
        return bool(self.kill_reason) or self.cgroup.ran_out_of_memory()


class Gang:
    """The processes of one attempt.

    Some methods wait: ``start`` for the GPU driver, ``end`` for the grace period, ``kill`` and
    ``close`` until processes are gone, and ``close`` up to a second for the gauge.
    """

    def __init__(self, folder: Folder, plan: GangPlan, record: Record) -> None:
        self.folder = folder
        self.plan = plan
        self.record = record
        self.members: list[Member] = []
        sharing = [rank for rank in plan.ranks if rank.shares_gpus]
        self.gauge = Gauge(
            (index for rank in plan.ranks for index in rank.visible_gpus),
            shared=(index for rank in sharing for index in rank.visible_gpus),
        )
        self._ports = ExitStack()
        self._setup_script: Path | None = None
        self._gpu_names: dict[int, str] = {}
        self._job: ScriptJob | None = None
        self._started_at: float | None = None  # when all ranks had started; by the monotonic clock

    def start(self) -> None:
        """Start all ranks. Raises :class:`SpawnError` if one cannot start, after killing the
        others."""
        rendezvous_count = rendezvous_port_count(self.plan)
        tool_count = sum(len(rank.tool_ports) for rank in self.plan.ranks)
        numbers, self._ports = ports.reserve(self.folder.home, rendezvous_count + tool_count)
        rendezvous_ports = numbers[:rendezvous_count]
        free_ports = iter(numbers[rendezvous_count:])
        for rank, record in zip(self.plan.ranks, self.record.ranks, strict=True):
            record.ports = {str(port): next(free_ports) for port in rank.tool_ports}
        script = self.folder.setup_script(self.plan.run)
        self._setup_script = setup.write_script(script, self.plan.setup)
        self._gpu_names = nvidia.cuda_names(self.gauge.devices)
        self._write_batch_job()
        for rank, record in zip(self.plan.ranks, self.record.ranks, strict=True):
            try:
                self._spawn(rank, record, rendezvous_ports)
            except OSError as error:
                self.kill()
                self.close()
                raise SpawnError(record, error) from error
        self._started_at = time.monotonic()
        self.gauge.open()

    def _write_batch_job(self) -> None:
        """Write the batch script, if there is one, and what its programs need."""
        batch = self.plan.batch
        if batch is None:
            return
        devices = [index for rank in self.plan.ranks for index in rank.visible_gpus]
        gpus = [self._gpu_names.get(index, str(index)) for index in dict.fromkeys(devices)]
        attempt = self.record.attempt
        self._job = starting.describe_job(
            self.plan,
            batch,
            self.folder,
            attempt=attempt,
            gpus=gpus,
            ran_seconds=self.ran_seconds,
        )
        starting.write_job(self.folder.batch(self.plan.run), self._job, batch)

    def _spawn(self, rank: RankPlan, record: RankRecord, rendezvous_ports: list[int]) -> None:
        """Start the first process of one rank, with its log, volumes and limits, and record it."""
        rank_folder = self.folder.rank_folder(rank.name)
        rank_folder.mkdir(parents=True, exist_ok=True)
        rank_view = view.prepare_view(self.folder, self.plan.run, rank)
        variables = rank_view.variables | environment(
            self.plan,
            rank,
            folder=self.folder.path,
            rank_folder=rank_folder,
            ports=rendezvous_ports,
            tool_ports=record.ports,
            gpu_names=self._gpu_names,
        )
        if self._job:
            batch_folder = self.folder.batch(self.plan.run)
            variables |= starting.host_variables(
                self._job, batch_folder, rank.rank, variables["PATH"]
            )
            variables |= mpi.settings_of_batch_script(batch_folder / starting.HOSTS)
        name = f"{self.plan.workload_id}-{rank.rank}-{self.record.attempt}"
        cgroup = cgroups.create(name, cpu=rank.cpu_limit, memory=rank.memory_limit)
        log = self.folder.log(self.plan.run, rank.rank, self.record.attempt)
        argv = expand(rank.argv, variables)
        try:
            with log.open("ab") as output:
                process, cgroup = spawn(
                    setup.wrap_command(argv, self._setup_script),
                    variables=variables,
                    view=rank_view,
                    output=output,
                    cgroup=cgroup,
                    mark=marks.mark_for(self.folder.path, rank.rank),
                )
        except OSError as error:
            cgroup.remove()
            if error.filename == argv[0]:  # the error is shown, and may not contain secrets
                error.filename = expand(rank.argv[:1], hide_secrets(variables, rank.secrets))[0]
            raise
        self.members.append(Member(rank, record, process, cgroup, rank_view.remark))
        record.pid = process.pid
        record.started = start_of(process.pid)
        record.phase = RankPhase.RUNNING
        record.started_at = monotonic_now()
        record.message = rank_view.remark

    @property
    def ran_seconds(self) -> float:
        """Seconds that the gang ran in all runs, including this attempt."""
        attempt = 0.0 if self._started_at is None else time.monotonic() - self._started_at
        return self.plan.ran + self.record.ran + attempt

    @property
    def running(self) -> list[Member]:
        """The ranks whose first process has not ended."""
        return [member for member in self.members if member.process.returncode is None]

    @property
    def has_first_rank_ended(self) -> bool:
        return self.members[0].process.returncode is not None

    @property
    def has_lead_succeeded(self) -> bool:
        """Whether there is a rank with which the gang ends, and it has succeeded."""
        leads = (member.record for member in self.members if member.plan.leads)
        return any(record.phase is RankPhase.SUCCEEDED for record in leads)

    def find_further_ranks(self) -> bool:
        """Record the ranks that a batch script started beyond those that were requested: they have
        a log. Returns whether there are new ones."""
        if self._job is None:
            return False
        known = len(self.record.ranks)
        logs = self.folder.logs(self.plan.run)
        last = max((rank for rank, attempt in logs if attempt == self.record.attempt), default=0)
        for _ in range(known, last + 1):
            self.record.add_rank()
        return last >= known

    def end_further_ranks(self, phase: RankPhase) -> None:
        """Record that these ranks ended with the script that started them. Their exit codes are
        only known to the script."""
        self.find_further_ranks()
        for record in self.record.ranks[len(self.plan.ranks) :]:
            if record.phase is RankPhase.RUNNING:
                record.phase = phase
                record.finished_at = monotonic_now()

    def reap(self) -> list[Member]:
        """Record the ranks that ended since the last call, and return them, the likely cause first.

        If several ended, those at the memory limit come first, then those killed by signals: a
        killed rank makes its peers exit.
        """
        ended = [member for member in self.running if member.process.poll() is not None]
        for member in ended:
            processes.signal_group(member.process.pid, signal.SIGKILL)  # as when a container ends
            _record_end(member)
        if ended:
            ranks = {member.plan.rank for member in ended}
            processes.kill_leftovers(self.folder.path, ranks=ranks)
        return sorted(ended, key=_precedence)

    def end(self, grace: float) -> list[Member]:
        """End all ranks: SIGTERM, and after ``grace`` seconds SIGKILL.

        A rank has ended when the last of its processes has: a shell dies of the signal at once,
        while the program that it started still saves a checkpoint. Returns the ranks that had to be
        killed.
        """
        remaining = self.running
        for member in remaining:
            processes.signal_group(member.process.pid, signal.SIGTERM)
        deadline = time.monotonic() + grace
        orphans = processes.Orphans(self.folder.path)
        while remaining and time.monotonic() < deadline:
            time.sleep(0.02)
            headless = [member for member in remaining if member.process.poll() is not None]
            if headless:
                pids = {member.plan.rank: member.process.pid for member in headless}
                occupied = orphans.terminate(pids)
                ended = [member for member in headless if member.plan.rank not in occupied]
                for member in ended:
                    _record_end(member)
                    remaining.remove(member)
        self._kill_members(remaining)
        return remaining

    def kill(self) -> None:
        """Kill all ranks, and wait until they are gone."""
        self._kill_members(self.running)

    def _kill_members(self, members: list[Member]) -> None:
        for member in members:
            processes.signal_group(member.process.pid, signal.SIGKILL)
        for member in members:
            member.process.wait()
            _record_end(member)

    def close(self) -> None:
        """Clean up: stop measuring, kill processes that left their group, remove control groups,
        and release ports."""
        self.gauge.close()
        if self.members:
            processes.kill_leftovers(self.folder.path)
        for member in self.members:
            member.cgroup.remove()
        self._ports.close()
        if self._started_at is not None:
            self.record.ran += time.monotonic() - self._started_at
            self._started_at = None


def _record_end(member: Member) -> None:
    """Record how a rank ended."""
    record = member.record
    code = member.process.returncode
    record.exit_code = code
    record.finished_at = monotonic_now()
    record.phase = RankPhase.SUCCEEDED
    if code:
        record.phase = RankPhase.FAILED
        record.reason = Reason.RANK_FAILED
        record.message = exit.describe_exit(code)
    if member.ran_out_of_memory:  # even if a shell hid it and returned 0
        record.phase = RankPhase.FAILED
        limit = exit.format_size(member.plan.memory_limit or 0)
        record.reason = Reason.OUT_OF_MEMORY
        record.message = member.kill_reason or f"used more memory than its limit of {limit}"


def _precedence(member: Member) -> tuple[bool, bool]:
    """Return the sort key of a rank that ended: the likely cause of the others' end comes first."""
    out_of_memory = member.record.reason is Reason.OUT_OF_MEMORY
    return not out_of_memory, member.process.returncode >= 0
