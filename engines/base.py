"""The interface between Trainyard and the clusters that run ranks.

Engines are plain Python: they know neither Django nor Celery, nor each other. They take a spec as a
:class:`Launch`, and report the state of the cluster as :class:`Observation`\\ s.

    EngineError
    ├── EngineRefused       the engine refuses, and would refuse again
    └── EngineUnavailable   no answer; the same call may succeed later
"""

from __future__ import annotations  # the protocol comes first, its types follow

import socket
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from engines.findings import Finding
from engines.local_queues import LocalQueue
from engines.logs import Log, LogChunk
from engines.nodes import NodeInfo
from engines.partitions import BillingAccount, Partition, ServiceLevel
from engines.queues import Wanted
from engines.session import Session
from spec.framework import Framework
from spec.phases import Phase, RankPhase, Reason
from spec.problems.causes import Cause
from spec.problems.errors import Problem, path_text
from spec.tools import Tool
from spec.values.variable import EnvironmentVariable, NamedCredential
from spec.workload import WorkloadSpec

Manifest = dict[str, Any]


class Engine(Protocol):
    """A cluster that can run gangs. Every method may raise :class:`EngineUnavailable`."""

    def capabilities(self) -> Capabilities: ...

    def nodes(self) -> tuple[NodeInfo, ...]: ...

    def check(self) -> tuple[Finding, ...]:
        """Check whether the cluster has what Trainyard needs. Cheap enough to run every minute."""
        ...

    def keep_queues(self, wanted: Wanted) -> None:
        """Update the cluster's queues, if it has any. May raise ``EngineRefused``."""
        ...

    def render(self, launch: Launch) -> list[Manifest]:
        """Return the manifests that ``submit`` would create. Pure, so it also serves unsaved
        drafts."""
        ...

    def complaints(self, launch: Launch) -> Iterator[Problem]:
        """Yield everything that ``submit`` would refuse, by its path in the spec.

        It asks no cluster and changes nothing; the local engine may look at files.
        """
        ...

    def submit(self, launch: Launch) -> None:
        """Start the gang. A second call for the same workload and run does nothing. May raise
        ``EngineRefused``, which then lists every complaint."""
        ...

    def watch(self) -> Generator[Observation | None]:
        """Yield every workload once, then each change as it comes.

        Yields ``None`` after the initial list, and at least once a second when nothing changes, so
        that the caller can do other work. Ends only by being closed.
        """
        ...

    def events(self) -> list[ClusterEvent]:
        """Return the events of the cluster that a watch of this engine received since the last
        call. A new watch receives again what the cluster still remembers."""
        ...

    def observe(self, handle: Handle) -> Observation | None:
        """Return the present state of a workload, or ``None`` if the cluster does not have it."""
        ...

    def stop(self, handle: Handle, *, run: int) -> None:
        """Ask every rank to end, and kill those that outlive the grace period. A workload that is
        gone counts as stopped.

        It leads to an observation with phase Stopped, or with Completed or Failed if the workload
        ended first.
        """
        ...

    def delete(self, handle: Handle, *, at_rest: Callable[[], None] | None = None) -> None:
        """Kill the ranks and remove everything that the workload has on the cluster. A workload
        that is gone counts as deleted.

        ``at_rest`` is called once no rank runs, before output is removed. If it raises, the rest
        stays for the next call. An engine whose logs can be read until its pods are gone need not
        call it.
        """
        ...

    def news(self) -> Set[UUID] | None:
        """Return the workloads with new output or usage since the last call, including those that
        are new to this process. ``None`` means that the engine cannot tell, so that the caller has
        to read all."""
        ...

    def logs(self, handle: Handle, *, run: int) -> Sequence[Log]:
        """Return all readable logs of a run; those of a rank in the order of their starts."""
        ...

    def read_log(
        self, handle: Handle, log: Log, *, offset: int, cursor: str, limit: int
    ) -> LogChunk:
        """Read about ``limit`` bytes of a log. ``offset`` and ``cursor`` are the position at which
        the last chunk ended. Without new output, the chunk is empty and has the same cursor."""
        ...

    def exec(self, handle: Handle, *, rank: int, argv: Sequence[str]) -> Session:
        """Start a program with a terminal next to the rank. May raise ``EngineRefused``."""
        ...

    def dial(self, handle: Handle, *, rank: int, port: int) -> socket.socket:
        """Connect to a port of a rank. The connection may end at once if nothing listens."""
        ...

    def address(self, handle: Handle, tool: Tool) -> str:
        """Return the tool's URL if people reach it directly; empty if they do through Trainyard."""
        ...

    def usage(self, handle: Handle, *, run: int, after: datetime | None) -> list[UsageSample]:
        """Return the samples of a run that are later than ``after``, the oldest first."""
        ...


class EngineError(Exception):
    """The engine could not do what the caller asked for."""


class EngineRefused(EngineError):
    """The engine refuses, and would refuse again. The workload shows ``reason``. ``field`` is the
    path in the spec that is the cause, or the first of several."""

    def __init__(self, message: str, *, reason: Reason = Reason.REFUSED, field: str = "") -> None:
        self.reason = reason
        self.field = field
        super().__init__(message)


def raise_complaints(complaints: Iterable[Problem], *, reason: Reason = Reason.REFUSED) -> None:
    """Raise ``EngineRefused`` with all complaints, if there are any."""
    if problems := list(complaints):
        message = " ".join(f"{path_text(it.path)}: {it.message}." for it in problems)
        raise EngineRefused(message, reason=reason, field=path_text(problems[0].path))


class EngineUnavailable(EngineError):
    """No answer; the same call may succeed later. Workloads that wait show ``cause``."""

    def __init__(self, message: str, *, cause: Cause | None = None) -> None:
        self.cause = cause
        super().__init__(message)


@dataclass(frozen=True)
class FrameworkSupport:
    """Whether a framework can run here; if not, ``why`` says what is missing. ``is_plain``: it runs
    without the operator that it usually has."""

    framework: Framework
    available: bool
    operator: str = ""
    version: str = ""
    why: str = ""
    is_plain: bool = False


@dataclass(frozen=True)
class Claim:
    """A project's PersistentVolumeClaim that no workload owns; ``modes`` are in words."""

    namespace: str
    name: str
    size: str = ""
    modes: str = ""


@dataclass(frozen=True)
class Capabilities:
    frameworks: tuple[FrameworkSupport, ...]
    queues: bool  # the cluster has its own queue, so Trainyard's admission stays out of the way
    schedulers: tuple[str, ...] = ()
    storage_classes: tuple[str, ...] = ()
    default_storage_class: str = ""  # used by claims that name none
    priority_classes: tuple[str, ...] = ()
    terminal: bool = False
    topologies: tuple[str, ...] | None = None  # of its network; None if unknown
    quotas: bool = False  # its queues enforce projects' quotas, see ``Engine.keep_queues``
    semi_preemptible: bool = False  # its scheduler can guarantee a part of a workload
    node_ports: tuple[int, ...] = ()  # used by others than Trainyard, as far as it may look
    partitions: tuple[Partition, ...] = ()
    claims: tuple[Claim, ...] | None = None  # that pods can mount by name; None if unknown
    config_maps: tuple[str, ...] | None = None  # each as namespace/name; None if unknown
    accounts: tuple[BillingAccount, ...] = ()
    qos: tuple[ServiceLevel, ...] = ()
    containers: str = ""  # what starts images where ranks are otherwise programs of the nodes
    kueue: str = ""  # the version of its API that is spoken; empty without Kueue
    local_queues: tuple[LocalQueue, ...] | None = None  # of Kueue; None if unknown

    def framework(self, framework: Framework) -> FrameworkSupport:
        for support in self.frameworks:
            if support.framework == framework:
                return support
        return FrameworkSupport(framework, available=False, why="This cluster does not support it.")


@dataclass(frozen=True)
class Handle:
    """Identifies a workload to an engine. Names on the cluster derive from these values."""

    workload_id: UUID
    name: str
    project: str


@dataclass(frozen=True)
class Site:
    """What a launch needs to know about its cluster, as last discovered.

    ``pools`` maps the name of each node pool to its label (key and value). Nodes with none of these
    labels form the pool ``DEFAULT_POOL``. Tools get external URLs below ``ingress_domain``.
    ``public_url`` is Trainyard's own address, without a trailing slash. ``containers`` starts
    images where ranks are otherwise programs of the nodes. With ``kueue`` a job can name a queue.
    With ``semi_preemptible`` the scheduler can guarantee a part of a workload. Gangs of
    ``plain_frameworks`` run without an operator.
    """

    schedulers: tuple[str, ...] = ()
    priority_classes: tuple[str, ...] = ()
    pools: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    ingress_domain: str = ""
    ingress_class: str = ""
    public_url: str = ""
    partitions: tuple[Partition, ...] = ()
    accounts: tuple[BillingAccount, ...] = ()
    qos: tuple[ServiceLevel, ...] = ()
    containers: str = ""
    kueue: bool = False
    semi_preemptible: bool = False
    plain_frameworks: frozenset[Framework] = frozenset()


@dataclass(frozen=True)
class Registry:
    """Credentials for a host of images: user and password, empty in a launch that is only shown, or
    the name of an existing Secret."""

    host: str
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    email: str = ""
    existing_secret: str = ""


@dataclass(frozen=True)
class Launch:
    """Everything that an engine needs to start a workload.

    ``run`` counts starts by the user: 1 on submission, and one more for each Run of the stopped
    workload. ``gpus`` maps ranks to the indexes of the devices that admission assigned; empty if
    the cluster schedules itself. ``ran`` are seconds of earlier runs. ``secrets`` are values of
    credentials by id and key; ``registries`` hold those for images. Nothing else here is secret.
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
        """Return the value of a variable's credential; empty in a launch that is only shown."""
        credential = variable.credential
        return self.value_of(credential, credential.key) if credential else ""

    def value_of(self, credential: NamedCredential, key: str) -> str:
        """Return the value of a key of a credential."""
        values = self.secrets.get(credential.asset_id, {}) if credential.asset_id else {}
        return values.get(key, "")


@dataclass(frozen=True)
class RankState:
    """The state of one rank on the cluster. ``exit_code`` is -N after signal N."""

    rank: int
    role: str
    index: int
    phase: RankPhase
    node: str = ""
    lost_its_node: bool = False  # it had one before, and waits for another
    restarts: int = 0
    exit_code: int | None = None
    reason: Reason = Reason.NONE
    message: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None


@dataclass(frozen=True)
class Observation:
    """The state of one workload on its cluster at one moment.

    ``sequence`` grows with each change of a run on its cluster. Of two observations, that with the
    higher ``(run, sequence)`` is later, even if clocks say otherwise. ``attempt`` counts starts of
    the gang within the run, from 0. ``phase`` is ``None`` if the cluster has no such workload. With
    ``starts_over``, the cluster's queue took the gang back, so its phase may be Pending again. If
    it is Stopped then, its job ended with that, and the next run has to be submitted. With
    ``has_own_ranks``, a script starts the ranks: ``ranks`` may then go beyond the pods of the spec,
    as further workers, and share what the pods requested.
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
    cause: Cause | None = None  # why it does not run, if the engine can tell
    starts_over: bool = False
    has_own_ranks: bool = False


@dataclass(frozen=True)
class ClusterEvent:
    """An event that the cluster reported about a workload. ``key`` identifies it, ``count`` is the
    number of its reports, ``about`` names its object."""

    workload_id: UUID
    key: str
    at: datetime
    reason: str
    message: str
    about: str = ""
    count: int = 1


@dataclass(frozen=True)
class UsageSample:
    """A sample of a rank's usage: ``cpu`` in cores, ``memory`` and ``gpu_memory`` in bytes, ``gpu``
    in percent of its GPUs; ``None`` if not measured. ``attempt`` counts the starts of ``origin``,
    as in :class:`Log`."""

    rank: int
    attempt: int
    at: datetime
    cpu: float | None
    memory: int | None
    gpu: float | None = None
    gpu_memory: int | None = None
    origin: str = ""
