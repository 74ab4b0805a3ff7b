"""An engine in memory. It reports what a test tells it to."""

import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from uuid import UUID

from engines.base import (
    Capabilities,
    ClusterEvent,
    EngineError,
    EngineRefused,
    EngineUnavailable,
    FrameworkSupport,
    Handle,
    Launch,
    Manifest,
    Observation,
    RankState,
    UsageSample,
    raise_complaints,
)
from engines.findings import EXCLUDED, Finding, refusal_of
from engines.logs import Log, LogChunk
from engines.nodes import Gpu, NodeInfo
from engines.queues import Queue, Wanted
from spec.framework import Framework
from spec.phases import ENDED, Phase, RankPhase, Reason
from spec.problems.causes import Cause
from spec.problems.errors import Problem
from spec.tools import Tool

TICK = 0.5  # seconds
LogKey = tuple[UUID, int, int, int]  # workload, run, rank, attempt
NODE = NodeInfo(
    "fake", 8.0, 32 * 10**9, tuple(Gpu(i, "Fake", 10**10, virtual=True) for i in range(4))
)


class FakeSession:
    """A terminal session whose program is the test: it reads and writes ``program``, and ends the
    session by closing it."""

    def __init__(self, rank: int, argv: Sequence[str]) -> None:
        self.rank = rank
        self.argv = argv
        self.stream, self.program = socket.socketpair()
        self.exit_code: int | None = None
        self.trouble = ""
        self.size = (0, 0)
        self.closed = False

    def resize(self, columns: int, rows: int) -> None:
        self.size = (columns, rows)

    def close(self) -> None:
        self.closed = True
        self.stream.close()


@dataclass
class FakeEngine:
    """Follows the protocol of engines without running anything.

    A submitted workload becomes Initializing and a stopped one Stopped; everything else comes from
    :meth:`show`. While ``raises`` is set, every method that would ask a cluster raises it.
    ``complains`` are the complaints about every launch, and ``refuses_queues`` is raised by
    ``keep_queues``.
    """

    machines: Sequence[NodeInfo] = (NODE,)
    frameworks: Sequence[Framework] = tuple(Framework)
    queues: bool = False
    quotas: bool = False
    findings: Sequence[Finding] = ()
    raises: EngineError | None = None
    complains: Sequence[Problem] = ()
    refuses_queues: EngineError | None = None
    kept: list[Queue] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    stops: list[tuple[UUID, int]] = field(default_factory=list)
    deletes: list[UUID] = field(default_factory=list)
    sessions: list["FakeSession"] = field(default_factory=list)
    _shown: dict[UUID, Observation] = field(default_factory=dict)
    _logs: dict[LogKey, bytes] = field(default_factory=dict)
    _usage: dict[tuple[UUID, int], list[UsageSample]] = field(default_factory=dict)
    _heard: list[ClusterEvent] = field(default_factory=list)
    _watchers: list[deque[Observation]] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    # --- For tests ----------------------------------------------------------------------------

    def show(
        self,
        handle: Handle,
        phase: Phase,
        *,
        reason: Reason = Reason.NONE,
        message: str = "",
        cause: Cause | None = None,
        attempt: int | None = None,
        ranks: Sequence[RankState] | None = None,
    ) -> Observation:
        """Have the cluster report this about the workload. Values that are not passed stay the
        same."""
        before = self._shown[handle.workload_id]
        after = replace(
            before,
            sequence=before.sequence + 1,
            phase=phase,
            at=datetime.now(UTC),
            reason=reason,
            message=message,
            cause=cause,
            attempt=before.attempt if attempt is None else attempt,
            ranks=before.ranks if ranks is None else tuple(ranks),
        )
        self._tell(after)
        return after

    def print(
        self, handle: Handle, rank: int, text: str, *, run: int = 1, attempt: int = 0
    ) -> None:
        """Add a text to the log of a rank."""
        key = (handle.workload_id, run, rank, attempt)
        self._logs[key] = self._logs.get(key, b"") + text.encode()

    def say(self, event: ClusterEvent) -> None:
        """Have the cluster report an event."""
        self._heard.append(event)

    def use(self, handle: Handle, sample: UsageSample, *, run: int = 1) -> None:
        """Have the cluster report a sample of usage."""
        self._usage.setdefault((handle.workload_id, run), []).append(sample)

    # --- The protocol -------------------------------------------------------------------------

    def capabilities(self) -> Capabilities:
        self._check()
        supported = tuple(
            FrameworkSupport(
                framework,
                available=framework in self.frameworks,
                operator="fake",
                why="" if framework in self.frameworks else "Left out of this fake.",
            )
            for framework in Framework
        )
        return Capabilities(
            frameworks=supported, queues=self.queues, terminal=True, quotas=self.quotas
        )

    def nodes(self) -> tuple[NodeInfo, ...]:
        self._check()
        return tuple(self.machines)

    def check(self) -> tuple[Finding, ...]:
        self._check()
        return tuple(self.findings)

    def keep_queues(self, wanted: Wanted) -> None:
        self._check()
        if refusal_of(self.findings):
            raise EngineRefused(f"The cluster {EXCLUDED}")
        if self.refuses_queues:
            raise self.refuses_queues
        self.kept = list(wanted())

    def render(self, launch: Launch) -> list[Manifest]:
        self._check()
        name = launch.handle.name
        return [{"kind": "Fake", "name": f"{name}-{pod.name}"} for pod in launch.spec.pods]

    def complaints(self, launch: Launch) -> Iterator[Problem]:
        yield from self.complains

    def submit(self, launch: Launch) -> None:
        self._check()
        raise_complaints(self.complaints(launch))
        before = self._shown.get(launch.handle.workload_id)
        if before and before.run >= launch.run:
            return
        self.launches.append(launch)
        ranks = tuple(
            RankState(pod.rank, pod.role, pod.index, RankPhase.PENDING) for pod in launch.spec.pods
        )
        uid = launch.handle.workload_id
        at = datetime.now(UTC)
        self._tell(Observation(uid, launch.run, 0, Phase.INITIALIZING, at, ranks=ranks))

    def watch(self) -> Generator[Observation | None]:
        self._check()
        with self._changed:
            changes = deque(self._shown.values())
            self._watchers.append(changes)
        try:
            while True:
                while changes:
                    yield changes.popleft()
                yield None
                self._check()
                self._wait(changes)
        finally:
            self._watchers.remove(changes)

    def events(self) -> list[ClusterEvent]:
        self._check()
        heard = self._heard
        self._heard = []
        return heard

    def observe(self, handle: Handle) -> Observation | None:
        self._check()
        return self._shown.get(handle.workload_id)

    def stop(self, handle: Handle, *, run: int) -> None:
        self._check()
        self.stops.append((handle.workload_id, run))
        shown = self._shown.get(handle.workload_id)
        if shown and shown.run == run and shown.phase not in ENDED:
            self.show(handle, Phase.STOPPED, reason=Reason.STOPPED_BY_USER)

    def delete(self, handle: Handle, *, at_rest: Callable[[], None] | None = None) -> None:
        self._check()
        if at_rest:
            at_rest()
        uid = handle.workload_id
        self.deletes.append(uid)
        shown = self._shown.pop(uid, None)
        self._logs = {key: text for key, text in self._logs.items() if key[0] != uid}
        if shown:
            gone = replace(shown, sequence=shown.sequence + 1, phase=None, ranks=())
            self._tell(gone)

    def news(self) -> None:
        return None

    def logs(self, handle: Handle, *, run: int) -> list[Log]:
        self._check()
        places = (key[1:] for key in self._logs if key[0] == handle.workload_id)
        return [Log(r, rank, attempt) for r, rank, attempt in sorted(places) if r == run]

    def read_log(
        self, handle: Handle, log: Log, *, offset: int, cursor: str, limit: int
    ) -> LogChunk:
        self._check()
        text = self._logs.get((handle.workload_id, log.run, log.rank, log.start), b"")
        data = text[offset : offset + limit]
        return LogChunk(data, cursor, ended=not data)

    def exec(self, handle: Handle, *, rank: int, argv: Sequence[str]) -> "FakeSession":
        self._check()
        if handle.workload_id not in self._shown:
            raise EngineRefused("The rank is not running.")
        session = FakeSession(rank, tuple(argv))
        self.sessions.append(session)
        return session

    def address(self, handle: Handle, tool: Tool) -> str:
        return ""

    def dial(self, handle: Handle, *, rank: int, port: int) -> socket.socket:
        """Connect to a port of this machine, where the test serves instead of a rank."""
        self._check()
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=5)
        except OSError as error:
            raise EngineUnavailable(f"Nothing listens on port {port}.") from error

    def usage(self, handle: Handle, *, run: int, after: datetime | None) -> list[UsageSample]:
        self._check()
        samples = self._usage.get((handle.workload_id, run), [])
        return [sample for sample in samples if after is None or sample.at > after]

    def _check(self) -> None:
        if self.raises:
            raise self.raises

    def _tell(self, observation: Observation) -> None:
        with self._changed:
            if observation.phase is not None:
                self._shown[observation.workload_id] = observation
            for watcher in self._watchers:
                watcher.append(observation)
            self._changed.notify_all()

    def _wait(self, changes: deque[Observation]) -> None:
        deadline = time.monotonic() + TICK
        with self._changed:
            while not changes and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
