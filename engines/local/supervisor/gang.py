"""One attempt of a gang: its processes, from the first start to the last kill."""

import signal
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from engines.local.planning import setup
from engines.local.planning.environment import environment, expand, hide_secrets, ports_needed
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
    """A rank could not be started. If ``hopeless``, another attempt would fail, too; if
    ``lacks_room``, the disk is full."""

    def __init__(self, record: RankRecord, error: OSError) -> None:
        self.record = record
        self.hopeless = isinstance(error, FileNotFoundError | PermissionError)
        self.lacks_room = is_full(error)
        what = error.filename or "the process"
        super().__init__(f"could not be started: {what}: {error.strerror or error}")


@dataclass
class Member:
    """A started rank."""

    plan: RankPlan
    record: RankRecord
    process: Process
    cgroup: cgroups.Cgroup
    said: str = ""  # remark about how it gets its volumes
    killed_for: str = ""  # why the supervisor killed it, if it did

    @property
    def watches_memory(self) -> bool:
        """Whether the supervisor has to enforce the memory limit, because the kernel does not."""
        return self.plan.memory_limit is not None and self.cgroup.memory is None

    @property
    def ran_out_of_memory(self) -> bool:
        """Whether one of its processes was killed at the limit, by the kernel or the supervisor."""
        return bool(self.killed_for) or self.cgroup.ran_out_of_memory()


class Gang:
    """The processes of one attempt. ``start`` may wait for a driver of GPUs that does not answer,
    ``end`` waits for the grace period, ``kill`` and ``close`` until processes are gone, and
    ``close`` up to a second for the gauge. All else returns at once."""

    def __init__(self, folder: Folder, plan: GangPlan, record: Record) -> None:
        self.folder = folder
        self.plan = plan
        self.record = record
        self.members: list[Member] = []
        self.gauge = Gauge(
            (index for rank in plan.ranks for index in rank.visible_gpus),
            shared=(it for rank in plan.ranks if rank.shares_gpus for it in rank.visible_gpus),
        )
        self._ports = ExitStack()
        self._setup: Path | None = None
        self._gpus: dict[int, str] = {}
        self._since: float | None = None  # when all ranks had started

    def start(self) -> None:
        """Start all ranks. Raises :class:`SpawnError` if one cannot start, after killing the
        others."""
        count = ports_needed(self.plan)
        served = sum(len(it.tool_ports) for it in self.plan.ranks)
        numbers, self._ports = ports.reserve(self.folder.home, count + served)
        free = iter(numbers[count:])
        for rank, record in zip(self.plan.ranks, self.record.ranks, strict=True):
            record.ports = {str(port): next(free) for port in rank.tool_ports}
        self._setup = setup.write(self.folder.setup(self.plan.run), self.plan.setup)
        self._gpus = nvidia.names(self.gauge.devices)
        for rank, record in zip(self.plan.ranks, self.record.ranks, strict=True):
            try:
                self._spawn(rank, record, numbers[:count])
            except OSError as error:
                self.kill()
                self.close()
                raise SpawnError(record, error) from error
        self._since = time.monotonic()
        self.gauge.open()

    def _spawn(self, rank: RankPlan, record: RankRecord, numbers: list[int]) -> None:
        """Start the first process of one rank, with its log, volumes and limits, and record it."""
        own = self.folder.work(rank.name)
        own.mkdir(parents=True, exist_ok=True)
        volumes = view.arrange(self.folder, self.plan.run, rank)
        variables = volumes.variables | environment(
            self.plan,
            rank,
            folder=self.folder.path,
            work=own,
            ports=numbers,
            tools=record.ports,
            gpus=self._gpus,
        )
        name = f"{self.plan.workload_id}-{rank.rank}-{self.record.attempt}"
        cgroup = cgroups.make(name, cpu=rank.cpu_limit, memory=rank.memory_limit)
        log = self.folder.log(self.plan.run, rank.rank, self.record.attempt)
        try:
            with log.open("ab") as output:
                process, cgroup = spawn(
                    setup.before(expand(rank.argv, variables), self._setup),
                    variables=variables,
                    view=volumes,
                    output=output,
                    cgroup=cgroup,
                    mark=marks.number(self.folder.path, rank.rank),
                )
        except OSError as error:
            cgroup.remove()
            if error.filename == expand(rank.argv[:1], variables)[0]:
                error.filename = expand(rank.argv[:1], hide_secrets(variables, rank.secrets))[0]
            raise
        self.members.append(Member(rank, record, process, cgroup, volumes.said))
        record.pid = process.pid
        record.started = start_of(process.pid)
        record.phase = RankPhase.RUNNING
        record.started_at = monotonic_now()
        record.message = volumes.said

    @property
    def ran(self) -> float:
        """Seconds of running in all runs, including this attempt."""
        now = 0.0 if self._since is None else time.monotonic() - self._since
        return self.plan.ran + self.record.ran + now

    @property
    def running(self) -> list[Member]:
        """The ranks whose first process has not ended."""
        return [member for member in self.members if member.process.returncode is None]

    def reap(self) -> list[Member]:
        """Ranks that ended since the last call, the likely cause first.

        If several ended, those at the memory limit come first, then those killed by signals: a
        killed rank makes its peers exit.
        """
        gone = [member for member in self.running if member.process.poll() is not None]
        for member in gone:
            processes.signal_group(member.process.pid, signal.SIGKILL)  # as when a container ends
            _settle(member)
        if gone:
            processes.sweep(self.folder.path, ranks={member.plan.rank for member in gone})
        return sorted(gone, key=_precedence)

    def end(self, grace: float) -> list[Member]:
        """End all ranks: SIGTERM, and after ``grace`` seconds SIGKILL. Returns those that had to be
        killed."""
        for member in self.running:
            processes.signal_group(member.process.pid, signal.SIGTERM)
        deadline = time.monotonic() + grace
        while self.running and time.monotonic() < deadline:
            self.reap()
            time.sleep(0.01)
        self.reap()
        late = self.running
        self.kill()
        return late

    def kill(self) -> None:
        """Kill all ranks, and wait until they are gone."""
        for member in self.running:
            processes.signal_group(member.process.pid, signal.SIGKILL)
        for member in self.running:
            member.process.wait()
            _settle(member)

    def close(self) -> None:
        """Clean up: stop measuring, kill processes that left their group, remove control groups,
        and release ports."""
        self.gauge.close()
        if self.members:
            processes.sweep(self.folder.path)
        for member in self.members:
            member.cgroup.remove()
        self._ports.close()
        if self._since is not None:
            self.record.ran += time.monotonic() - self._since
            self._since = None


def _settle(member: Member) -> None:
    """Record how a rank ended."""
    record = member.record
    code = member.process.returncode
    record.exit_code = code
    record.finished_at = monotonic_now()
    record.phase = RankPhase.SUCCEEDED
    if code:
        record.phase = RankPhase.FAILED
        record.reason = Reason.RANK_FAILED
        record.message = exit.ended(code)
    if member.ran_out_of_memory:  # even if a shell hid it and returned 0
        record.phase = RankPhase.FAILED
        limit = exit.size(member.plan.memory_limit or 0)
        record.reason = Reason.OUT_OF_MEMORY
        record.message = member.killed_for or f"used more memory than its limit of {limit}"


def _precedence(member: Member) -> tuple[bool, bool]:
    """Return the sort key of a rank that ended: the likely cause of the others' end comes first."""
    out_of_memory = member.record.reason is Reason.OUT_OF_MEMORY
    return not out_of_memory, member.process.returncode >= 0
