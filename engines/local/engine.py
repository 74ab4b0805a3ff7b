"""The local engine: gangs are processes of this machine, each with its own supervisor."""

import socket
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psutil

from engines.base import (
    Capabilities,
    ClusterEvent,
    EngineRefused,
    EngineUnavailable,
    FrameworkSupport,
    Handle,
    Launch,
    Manifest,
    Observation,
    UsageSample,
)
from engines.findings import Finding
from engines.local import supervisors
from engines.local.interpreter.choice import Interpreter, own_interpreter
from engines.local.interpreter.starting import ensure_preparation, python_finding
from engines.local.observing import StateWatcher, observation
from engines.local.planning import planner
from engines.local.planning.environment import HOST, RENDEZVOUS
from engines.local.planning.lookup import Programs
from engines.local.records.journal import is_full
from engines.local.records.layout import Folder, hold_lock, read_json, read_log_piece, write_json
from engines.local.records.plan import GangPlan
from engines.local.records.state import RankRecord, Record
from engines.local.removal import remove
from engines.local.rendering import render
from engines.local.system import marks, ports, processes, sampling
from engines.local.system.machine import Machine
from engines.local.terminal import LocalSession
from engines.logs import Log, LogChunk
from engines.nodes import NodeInfo
from engines.queues import Wanted
from engines.session import Session
from spec.framework import Framework
from spec.problems.errors import Problem
from spec.tools import Tool

DIAL_SECONDS = 5.0
FULL = "The disk of the local engine is full. The workload starts when there is space."


def _framework_support(framework: Framework) -> FrameworkSupport:
    lack = RENDEZVOUS[framework].lack
    if lack:
        return FrameworkSupport(framework, available=False, why=lack)
    return FrameworkSupport(framework, available=True, operator="local")


@contextmanager
def _on_disk() -> Iterator[None]:
    """Turn errors of a full or failing disk, or a full process table, into
    ``EngineUnavailable``."""
    try:
        yield
    except OSError as error:
        if is_full(error):
            raise EngineUnavailable(FULL) from error
        raise EngineUnavailable(f"The local engine cannot work: {error}.") from error


class LocalEngine:
    """Runs workloads on this machine. All state is below ``home``, so that any number of processes
    can use the engine at once.

    ``images`` maps image patterns to commands, in which ``{python}`` is that of ``interpreter``, by
    default the one that runs Trainyard.
    ``restart_delay`` is the pause before the first restart in seconds; it doubles each time.
    ``paths`` are folders of this machine that workloads may mount.
    """

    def __init__(
        self,
        home: Path,
        *,
        images: Mapping[str, Sequence[str]],
        virtual_gpus: int,
        restart_delay: float = 1.0,
        paths: Sequence[str] = (),
        interpreter: Interpreter | None = None,
    ) -> None:
        self.home = home.resolve()
        self._interpreter = interpreter or own_interpreter(self.home)
        self._programs = Programs(images, self._interpreter.python)
        self._machine = Machine(virtual_gpus)
        self._restart_delay = restart_delay
        self._paths = paths

    @property
    def _node(self) -> NodeInfo:
        return self._machine.state()[0]

    def capabilities(self) -> Capabilities:
        """Trainyard provides the rendezvous of each framework. The framework itself comes with the
        command's interpreter."""
        frameworks = tuple(map(_framework_support, Framework))
        return Capabilities(frameworks=frameworks, queues=False, terminal=True)

    def nodes(self) -> tuple[NodeInfo, ...]:
        return (self._node,)

    def check(self) -> tuple[Finding, ...]:
        """Return what the Python of the ranks is, and what is wrong with the GPUs; all else is
        reported when a workload is submitted. A Python that is to be installed is installed from
        the first check on, in the background."""
        ensure_preparation(self._interpreter)
        return (python_finding(self._interpreter), *self._machine.state()[1])

    def keep_queues(self, wanted: Wanted) -> None:
        """Do nothing: there are no queues here, because Trainyard decides who may start."""

    def plan(self, launch: Launch) -> GangPlan:
        """Return the plan for the supervisor. ``EngineRefused`` says what cannot be provided."""
        plans = planner.Planner(self._programs, self._node, self._restart_delay, self._paths)
        return plans.plan(launch)

    def render(self, launch: Launch) -> list[Manifest]:
        return render(self.plan(launch), self._folder(launch.handle))

    def complaints(self, launch: Launch) -> Iterator[Problem]:
        return planner.complaints(launch, self._programs, self._paths)

    @_on_disk()
    def submit(self, launch: Launch) -> None:
        plan = self.plan(launch)
        folder = self._folder(launch.handle)
        with hold_lock(folder.change_lock):
            current = read_json(folder.launch)
            record = Record.read(folder)
            latest_run = current["run"] if current else 0
            if latest_run > plan.run:
                return  # a late call for an earlier run
            if latest_run == plan.run:
                # A repeated call: an earlier one may have died before it started the supervisor.
                supervisors.revive(folder)
                return
            if current and not (record and record.is_final):
                supervisors.revive(folder)
                raise EngineUnavailable(f"run {latest_run} is still ending")
            _prepare_run(folder, plan)
            supervisors.start(folder)  # even if the supervisor of the earlier run still exits

    def watch(self) -> Generator[Observation | None]:
        with _on_disk():
            yield from StateWatcher(self.home, self._ensure_supervisor)

    def events(self) -> list[ClusterEvent]:
        return []  # no other component of this machine reports events

    @_on_disk()
    def observe(self, handle: Handle) -> Observation | None:
        folder = self._folder(handle)
        record = Record.read(folder)
        if record is None or not record.is_final:
            self._ensure_supervisor(folder, record)
        return observation(record) if record else None

    @_on_disk()
    def stop(self, handle: Handle, *, run: int) -> None:
        folder = self._folder(handle)
        with hold_lock(folder.change_lock):
            if read_json(folder.launch) is None:
                return
            # Written first, so that any later supervisor sees it.
            folder.run_folder(run).mkdir(parents=True, exist_ok=True)
            folder.stop_request(run).touch()
        record = Record.read(folder)
        if not folder.ring() and not (record and record.is_final):
            supervisors.start(folder)

    @_on_disk()
    def delete(self, handle: Handle, *, at_rest: Callable[[], None] | None = None) -> None:
        remove(self._folder(handle), at_rest)

    def news(self) -> None:
        return None  # nothing notifies the engine when a log grows

    @_on_disk()
    def logs(self, handle: Handle, *, run: int) -> list[Log]:
        return [Log(run, rank, start) for rank, start in self._folder(handle).logs(run)]

    @_on_disk()
    def read_log(
        self, handle: Handle, log: Log, *, offset: int, cursor: str, limit: int
    ) -> LogChunk:
        data = read_log_piece(self._folder(handle).log(log.run, log.rank, log.start), offset, limit)
        return LogChunk(data, cursor, ended=not data)

    @_on_disk()
    def exec(self, handle: Handle, *, rank: int, argv: Sequence[str]) -> Session:
        """Start a program with a terminal in the folder of a rank, with the rank's variables.

        It carries the workload's mark, so that it is killed with the workload. Raises
        ``EngineRefused`` if the rank does not run.
        """
        record = self._live_rank(handle, rank)
        if record is None:
            raise EngineRefused("The rank is not running.")
        try:
            process = psutil.Process(record.pid)
            mark = marks.mark_for(self._folder(handle).path)
            variables = processes.read_environment(process)
            return LocalSession(
                argv, folder=process.cwd(), variables=variables, mark=mark, beside=record.pid
            )
        except psutil.Error as error:
            raise EngineRefused("The rank has just ended.") from error
        except FileNotFoundError as error:
            raise EngineRefused(f"The terminal cannot be opened: {error}.") from error

    def address(self, handle: Handle, tool: Tool) -> str:
        return ""

    def dial(self, handle: Handle, *, rank: int, port: int) -> socket.socket:
        """Connect to a port of a rank: to the one assigned for the tool's port, or to that port.

        Raises ``EngineUnavailable`` if the rank listens on neither.
        """
        record = self._live_rank(handle, rank)
        served_port = _served_port(record, port) if record else None
        if served_port is None:
            raise EngineUnavailable(f"The rank does not listen on port {port}.")
        try:
            return socket.create_connection((HOST, served_port), timeout=DIAL_SECONDS)
        except OSError as error:
            raise EngineUnavailable(f"Port {port} does not answer: {error}.") from error

    def _live_rank(self, handle: Handle, rank: int) -> RankRecord | None:
        """Return the record of a rank if its process is alive."""
        record = Record.read(self._folder(handle))
        if record is None or rank >= len(record.ranks):
            return None
        rank_record = record.ranks[rank]
        is_alive = processes.is_alive(rank_record.pid, rank_record.started)
        return rank_record if is_alive else None

    @_on_disk()
    def usage(self, handle: Handle, *, run: int, after: datetime | None) -> list[UsageSample]:
        since = after.astimezone(UTC).isoformat(timespec="microseconds") if after else ""
        samples = sampling.read_samples(self._folder(handle).usage(run), after=since)
        return [
            UsageSample(**{**sample, "at": datetime.fromisoformat(sample["at"])})
            for sample in samples
        ]

    def _folder(self, handle: Handle) -> Folder:
        return Folder(self.home, str(handle.workload_id))

    def _ensure_supervisor(self, folder: Folder, record: Record | None) -> None:
        """Start another supervisor if the one of a workload has died."""
        at = datetime.fromisoformat(record.at) if record else datetime.min.replace(tzinfo=UTC)
        quiet_seconds = abs((datetime.now(UTC) - at).total_seconds())  # the clock may be set back
        if quiet_seconds <= supervisors.START_SECONDS:
            return
        if not folder.launch.exists() or folder.is_supervised:
            return
        try:
            # Without waiting: whatever holds the lock starts, stops or deletes the workload.
            with hold_lock(folder.change_lock, wait=False):
                supervisors.revive(folder)
        except OSError as error:
            if not (isinstance(error, BlockingIOError) or is_full(error)):
                raise  # otherwise the next look tries again


def _served_port(record: RankRecord, port: int) -> int | None:
    """Return the port on this machine by which a rank serves its ``port``.

    All ranks share the machine's ports, so only one on which this rank's processes listen counts.
    """
    for candidate in (record.ports.get(str(port), port), port):
        if ports.is_served(record.pid, candidate):
            return candidate
    return None


def _prepare_run(folder: Folder, plan: GangPlan) -> None:
    """Write everything that a supervisor needs to run a plan."""
    folder.create_run(plan.run)
    if plan.secrets:
        write_json(folder.secrets(plan.run), plan.secrets, scratch=folder.path)
    # The launch comes before the state, because the run exists once its launch does.
    write_json(folder.launch, plan.to_json(), scratch=folder.path)
    Record.from_plan(plan).write(folder)
