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
from engines.local.observing import StateWatcher, observation
from engines.local.planning import planner
from engines.local.planning.environment import HOST, RENDEZVOUS
from engines.local.records.journal import is_full
from engines.local.records.layout import Folder, locked, read_json, read_log_piece, write_json
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


def _support(framework: Framework) -> FrameworkSupport:
    """The rendezvous is ours; the framework itself comes with the command's interpreter."""
    if why := RENDEZVOUS[framework].lack:
        return FrameworkSupport(framework, available=False, why=why)
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
    """Stores all state below ``home``, so any number of processes can use it at once.

    ``images`` maps image patterns to commands, in which ``{python}`` is the running interpreter.
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
    ) -> None:
        self.home = home.resolve()
        self._images = images
        self._machine = Machine(virtual_gpus)
        self._restart_delay = restart_delay
        self._paths = paths

    @property
    def _node(self) -> NodeInfo:
        return self._machine.state()[0]

    def capabilities(self) -> Capabilities:
        """The rendezvous is ours; the framework itself comes with the command's interpreter."""
        frameworks = tuple(map(_support, Framework))
        return Capabilities(frameworks=frameworks, queues=False, terminal=True)

    def nodes(self) -> tuple[NodeInfo, ...]:
        return (self._node,)

    def check(self) -> tuple[Finding, ...]:
        """Only GPUs can lack: what else a workload needs is reported at its submission."""
        return self._machine.state()[1]

    def keep_queues(self, wanted: Wanted) -> None:
        """There are no queues here: Trainyard decides who may start."""

    def plan(self, launch: Launch) -> GangPlan:
        """The plan for the supervisor. ``EngineRefused`` says what cannot be provided."""
        node = self._node
        return planner.Planner(self._images, node, self._restart_delay, self._paths).plan(launch)

    def render(self, launch: Launch) -> list[Manifest]:
        return render(self.plan(launch), self._folder(launch.handle))

    def complaints(self, launch: Launch) -> Iterator[Problem]:
        return planner.complaints(launch, self._images, self._paths)

    @_on_disk()
    def submit(self, launch: Launch) -> None:
        plan = self.plan(launch)
        folder = self._folder(launch.handle)
        with locked(folder.door):
            current = read_json(folder.launch)
            record = Record.read(folder)
            latest = current["run"] if current else 0
            if latest > plan.run:
                return  # a late call for an earlier run
            if latest == plan.run:
                supervisors.revive(folder)
                return
            if current and not (record and record.is_final):
                supervisors.revive(folder)
                raise EngineUnavailable(f"run {latest} is still ending")
            _prepare(folder, plan)
            supervisors.start(folder)  # even if the earlier run's is still there

    def watch(self) -> Generator[Observation | None]:
        with _on_disk():
            yield from StateWatcher(self.home, self._tend)

    def events(self) -> list[ClusterEvent]:
        return []  # there is nobody else to report events

    @_on_disk()
    def observe(self, handle: Handle) -> Observation | None:
        folder = self._folder(handle)
        record = Record.read(folder)
        if record is None or not record.is_final:
            self._tend(folder, record)
        return observation(record) if record else None

    @_on_disk()
    def stop(self, handle: Handle, *, run: int) -> None:
        folder = self._folder(handle)
        with locked(folder.door):
            if read_json(folder.launch) is None:
                return
            # Written first, so that any later supervisor sees it.
            folder.run(run).mkdir(parents=True, exist_ok=True)
            folder.stop_request(run).touch()
        record = Record.read(folder)
        if not folder.ring() and not (record and record.is_final):
            supervisors.start(folder)

    @_on_disk()
    def delete(self, handle: Handle, *, at_rest: Callable[[], None] | None = None) -> None:
        remove(self._folder(handle), at_rest)

    def news(self) -> None:
        return None  # nothing tells when files grow

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
        """Start a program like the rank's own: it carries the workload's mark, and ends with the
        rank at the latest."""
        own = self._rank(handle, rank)
        if own is None:
            raise EngineRefused("The rank is not running.")
        try:
            process = psutil.Process(own.pid)
            mark = marks.number(self._folder(handle).path)
            variables = processes.environ(process)
            return LocalSession(
                argv, folder=process.cwd(), variables=variables, mark=mark, beside=own.pid
            )
        except psutil.Error as error:
            raise EngineRefused("The rank has just ended.") from error
        except FileNotFoundError as error:
            raise EngineRefused(f"The terminal cannot be opened: {error}.") from error

    def address(self, handle: Handle, tool: Tool) -> str:
        return ""

    def dial(self, handle: Handle, *, rank: int, port: int) -> socket.socket:
        """Connect to a port of a rank. Ranks share the machine's ports, so it has to be one on
        which this rank's own processes listen: the one assigned for the tool's port, or that port
        itself."""
        own = self._rank(handle, rank)
        asked = [own.ports.get(str(port), port), port] if own else []
        served = next((it for it in asked if own and ports.is_served(own.pid, it)), None)
        if served is None:
            raise EngineUnavailable(f"The rank does not listen on port {port}.")
        try:
            return socket.create_connection((HOST, served), timeout=DIAL_SECONDS)
        except OSError as error:
            raise EngineUnavailable(f"Port {port} does not answer: {error}.") from error

    def _rank(self, handle: Handle, rank: int) -> RankRecord | None:
        """A rank, if its process is alive."""
        record = Record.read(self._folder(handle))
        own = record.ranks[rank] if record and rank < len(record.ranks) else None
        return own if own and processes.is_alive(own.pid, own.started) else None

    @_on_disk()
    def usage(self, handle: Handle, *, run: int, after: datetime | None) -> list[UsageSample]:
        since = after.astimezone(UTC).isoformat(timespec="microseconds") if after else ""
        samples = sampling.read(self._folder(handle).usage(run), after=since)
        return [UsageSample(**{**s, "at": datetime.fromisoformat(s["at"])}) for s in samples]

    def _folder(self, handle: Handle) -> Folder:
        return Folder(self.home, str(handle.workload_id))

    def _tend(self, folder: Folder, record: Record | None) -> None:
        """Start another supervisor if a workload's has died."""
        at = datetime.fromisoformat(record.at) if record else datetime.min.replace(tzinfo=UTC)
        quiet = abs((datetime.now(UTC) - at).total_seconds())  # the clock may have been set back
        if quiet > supervisors.STARTING and folder.launch.exists() and not folder.is_tended:
            try:
                with locked(folder.door, wait=False):
                    supervisors.revive(folder)
            except OSError as error:
                if not (isinstance(error, BlockingIOError) or is_full(error)):
                    raise  # otherwise it is tried again


def _prepare(folder: Folder, plan: GangPlan) -> None:
    """Write everything a supervisor needs. The launch comes first, because it makes the run exist;
    then its state."""
    folder.prepare(plan.run)
    if plan.secrets:
        write_json(folder.secrets(plan.run), plan.secrets, scratch=folder.path)
    write_json(folder.launch, plan.to_json(), scratch=folder.path)
    Record.of(plan).write(folder)
