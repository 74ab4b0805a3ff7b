"""The protocol that Trainyard speaks with whatever runs the ranks.

Engines are plain Python: no Django, no Celery, no knowledge of each other. The spec travels in as
a :class:`Launch`; what the cluster shows travels out as :class:`Observation`\\ s.

    EngineError
    ├── EngineRefused       it said no, and will say no again
    └── EngineUnavailable   no answer; the same call may succeed later
"""

from __future__ import annotations  # the protocol stands first, what it speaks of follows

import socket
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from engines.findings import Finding
from engines.logs import Log, LogChunk
from engines.nodes import NodeInfo
from engines.partitions import Partition, SlurmAccount
from engines.queues import Wanted
from engines.session import Session
from spec.framework import Framework
from spec.phases import Phase, RankPhase, Reason
from spec.problems.causes import Cause
from spec.problems.errors import Problem, place_of
from spec.tools import Tool
from spec.values.variable import EnvironmentVariable, NamedCredential
from spec.workload import Role, WorkloadSpec

DEFAULT_POOL = "default"
Manifest = dict[str, Any]


class Engine(Protocol):
    """A cluster that can run gangs. Every method may raise :class:`EngineUnavailable`."""

    def capabilities(self) -> Capabilities: ...

    def nodes(self) -> tuple[NodeInfo, ...]: ...

    def check(self) -> tuple[Finding, ...]:
        """What Trainyard needs here and whether it is there, cheap enough for once a minute."""
        ...

    def keep_queues(self, wanted: Wanted) -> None:
        """Make the cluster's queues what is wanted, if it has any. May raise ``EngineRefused``."""
        ...

    def render(self, launch: Launch) -> list[Manifest]:
        """What ``submit`` would hand over. Pure: also the preview of an unsaved draft."""
        ...

    def complaints(self, launch: Launch) -> Iterator[Problem]:
        """All that it would refuse without asking the cluster, by the place in the spec. Changes
        nothing; an engine of this machine may look at its files."""
        ...

    def submit(self, launch: Launch) -> None:
        """Start the gang. Twice is once, by workload id and run. May raise ``EngineRefused``, which
        says every complaint at once."""
        ...

    def watch(self) -> Generator[Observation | None]:
        """Every workload once, then each change as it comes.

        Yields ``None`` after the first list, and at least once a second when nothing changes, so
        that the caller can look at its own clock. Ends only by being closed.
        """
        ...

    def events(self) -> list[ClusterEvent]:
        """What the cluster said since the last call, as far as a watch here heard it.

        A watch that begins tells again what the cluster still remembers.
        """
        ...

    def observe(self, handle: Handle) -> Observation | None:
        """One workload now; ``None`` when the cluster does not have it."""
        ...

    def stop(self, handle: Handle, *, run: int) -> None:
        """Ask every rank to end, kill what outlives the spec's grace period. Gone is success.

        Ends in an observation with phase Stopped (or Completed or Failed, if that came first).
        """
        ...

    def delete(self, handle: Handle, *, at_rest: Callable[[], None] | None = None) -> None:
        """Kill what runs and remove all the workload left on the cluster. Gone is success.

        ``at_rest`` is called when nothing of it runs any more, before what it printed is removed;
        what it raises leaves all that is there for another call. An engine whose logs can be read
        until its pods are gone need not call it."""
        ...

    def news(self) -> Set[UUID] | None:
        """Workloads with output or usage that was not there when this was last asked; ``None``
        where only looking tells. Workloads that are new to this process are among them."""
        ...

    def logs(self, handle: Handle, *, run: int) -> Sequence[Log]:
        """All of a run that can be read, those of one rank in the order of their starts."""
        ...

    def read_log(
        self, handle: Handle, log: Log, *, offset: int, cursor: str, limit: int
    ) -> LogChunk:
        """About ``limit`` bytes of a log from ``offset`` on, where the last piece ended, as its
        ``cursor`` says; none and the same cursor when there is nothing new."""
        ...

    def exec(self, handle: Handle, *, rank: int, argv: Sequence[str]) -> Session:
        """Start a program with a terminal where the rank runs. May raise ``EngineRefused``."""
        ...

    def dial(self, handle: Handle, *, rank: int, port: int) -> socket.socket:
        """A connection to what a rank serves. It may end at once where nothing listens."""
        ...

    def address(self, handle: Handle, tool: Tool) -> str:
        """Where a tool is reached without Trainyard; empty where the way leads through it."""
        ...

    def usage(self, handle: Handle, *, run: int, after: datetime | None) -> list[UsageSample]:
        """Samples of a run taken later than ``after``, oldest first."""
        ...


class EngineError(Exception):
    """The engine could not do what was asked."""


class EngineRefused(EngineError):
    """It answered no, and will again. ``reason`` is what the workload shows, ``field`` the place in
    the spec that it is about, or the first of several."""

    def __init__(self, message: str, *, reason: Reason = Reason.REFUSED, field: str = "") -> None:
        self.reason, self.field = reason, field
        super().__init__(message)


def refuse(complaints: Iterable[Problem], *, reason: Reason = Reason.REFUSED) -> None:
    """``EngineRefused`` that says all of them, if there are any."""
    if problems := list(complaints):
        said = " ".join(f"{place_of(it.path)}: {it.message}." for it in problems)
        raise EngineRefused(said, reason=reason, field=place_of(problems[0].path))


class EngineUnavailable(EngineError):
    """No answer; the same call may succeed later. ``cause`` is for the page of what waits."""

    def __init__(self, message: str, *, cause: Cause | None = None) -> None:
        self.cause = cause
        super().__init__(message)


@dataclass(frozen=True)
class FrameworkSupport:
    """Whether a framework can run here; ``why`` says what is missing when it cannot."""

    framework: Framework
    available: bool
    operator: str = ""
    version: str = ""
    why: str = ""


@dataclass(frozen=True)
class Claim:
    """A PersistentVolumeClaim of a project that no workload owns; ``modes`` as people read them."""

    namespace: str
    name: str
    size: str = ""
    modes: str = ""


@dataclass(frozen=True)
class Capabilities:
    frameworks: tuple[FrameworkSupport, ...]
    queues: bool  # the cluster queues for itself, so Trainyard's admission stays out of the way
    schedulers: tuple[str, ...] = ()
    storage_classes: tuple[str, ...] = ()
    default_storage_class: str = ""  # of claims that name none
    priority_classes: tuple[str, ...] = ()
    terminal: bool = False
    topologies: tuple[str, ...] | None = None  # of its network; None where nobody says
    quotas: bool = False  # its queues hold projects to their quotas, see ``Engine.keep_queues``
    node_ports: tuple[int, ...] = ()  # that others than Trainyard hold, as far as it may look
    partitions: tuple[Partition, ...] = ()
    plain_jobs: bool = False  # its own jobs run a single pod, see ``Site``
    claims: tuple[Claim, ...] | None = None  # that pods can mount by name; None where nobody says
    config_maps: tuple[str, ...] | None = None  # the same, each as its namespace/name
    accounts: tuple[SlurmAccount, ...] = ()
    containers: str = ""  # what starts images, where ranks are else programs of the nodes

    def framework(self, framework: Framework) -> FrameworkSupport:
        for support in self.frameworks:
            if support.framework == framework:
                return support
        return FrameworkSupport(framework, available=False, why="This cluster does not support it.")


@dataclass(frozen=True)
class Handle:
    """How an engine finds a workload again. Names on the cluster derive from these."""

    workload_id: UUID
    name: str
    project: str


@dataclass(frozen=True)
class Site:
    """What a launch needs to know of its cluster, as it was last discovered.

    ``pools`` holds the label (key and value) of each node pool by its name; the nodes that carry
    none of these labels are the pool ``DEFAULT_POOL``. Tools get external URLs below
    ``ingress_domain``; ``public_url`` is where Trainyard itself is, without a
    slash at its end. With ``plain_jobs`` a single pod needs no operator. ``containers`` is
    what starts images where ranks are else programs of the nodes.
    """

    schedulers: tuple[str, ...] = ()
    priority_classes: tuple[str, ...] = ()
    pools: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    ingress_domain: str = ""
    ingress_class: str = ""
    public_url: str = ""
    partitions: tuple[Partition, ...] = ()
    plain_jobs: bool = False
    containers: str = ""


@dataclass(frozen=True)
class Registry:
    """Who pulls images from a host: a user with a password, empty in a launch that is only shown,
    or whoever is in an existing Secret."""

    host: str
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    email: str = ""
    existing_secret: str = ""


@dataclass(frozen=True)
class Launch:
    """All an engine needs to start a workload.

    ``run`` counts starts by the user: 1 on submission, one more each time a stopped workload is run
    again. ``gpus`` holds, for each rank, the indices of the devices that admission gave it; it is
    empty where the cluster schedules for itself. ``ran`` is for how many seconds it was running in
    earlier runs. ``secrets`` are the values of the credentials that the spec names, by their ids
    and keys; ``registries`` have those for its images. No other part of a launch has any.
    """

    handle: Handle
    run: int
    spec: WorkloadSpec
    submitted_by: str = ""
    gpus: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    site: Site = Site()
    ran: float = 0.0
    secrets: Mapping[UUID, Mapping[str, str]] = field(default_factory=dict, repr=False)
    registries: tuple[Registry, ...] = ()

    def secret_of(self, variable: EnvironmentVariable) -> str:
        """The value that its credential has; empty in a launch that is only shown."""
        at = variable.credential
        return self.value_of(at, at.key) if at else ""

    def value_of(self, credential: NamedCredential, key: str) -> str:
        """The same of one of its keys."""
        values = self.secrets.get(credential.asset_id, {}) if credential.asset_id else {}
        return values.get(key, "")


@dataclass(frozen=True)
class RankState:
    """One rank as the cluster shows it. ``exit_code`` is -N after signal N."""

    rank: int
    role: Role
    index: int
    phase: RankPhase
    node: str = ""
    restarts: int = 0
    exit_code: int | None = None
    reason: Reason = Reason.NONE
    message: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None


@dataclass(frozen=True)
class Observation:
    """What the cluster showed of one workload at one moment.

    ``sequence`` grows with each change of one run on one cluster: of two observations the one with
    the higher ``(run, sequence)`` is the later, whatever their clocks say. ``attempt`` counts
    starts of the gang within the run, from 0. A ``phase`` of ``None`` says that the cluster no
    longer has the workload.
    """

    workload_id: UUID
    run: int
    sequence: int
    phase: Phase | None
    at: datetime
    attempt: int = 0
    reason: Reason = Reason.NONE
    message: str = ""
    ranks: tuple[RankState, ...] = ()
    cause: Cause | None = None  # what keeps it from running, where the engine can tell


@dataclass(frozen=True)
class ClusterEvent:
    """Something the cluster said about a workload. ``key`` tells it from all others; ``count`` is
    how often it was said, ``about`` the object it is about."""

    workload_id: UUID
    key: str
    at: datetime
    reason: str
    message: str
    about: str = ""
    count: int = 1


@dataclass(frozen=True)
class UsageSample:
    """One sample of what a rank uses: ``cpu`` in cores, ``memory`` and ``gpu_memory`` in bytes,
    ``gpu`` in percent of the GPUs it has. What nobody measures is ``None``. ``attempt`` counts the
    starts of ``origin``, as :class:`Log` has it."""

    rank: int
    attempt: int
    at: datetime
    cpu: float | None
    memory: int | None
    gpu: float | None = None
    gpu_memory: int | None = None
    origin: str = ""
