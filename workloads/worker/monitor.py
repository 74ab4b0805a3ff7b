"""Watch a cluster. The holder of its lease lists everything, then applies changes for a minute;
then the next turn begins."""

import logging
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from uuid import UUID

from django.db import DataError

from clusters import services as clusters
from clusters.connections import engine_for
from clusters.models import Cluster
from clusters.nodes.poll import NodePolls
from core.broker.lease import hold_lease
from engines.base import Engine, EngineError, Observation
from projects import queues
from spec.phases import ACTIVE
from workloads import reconcile
from workloads.history import events
from workloads.models import Workload
from workloads.worker import cluster_events, collect, drift, outages, relist
from workloads.worker.ends import Ends

log = logging.getLogger(__name__)

TURN_SECONDS = 60.0
LEASE_SECONDS = 5.0
REFRESH_SECONDS = 30.0  # for the refresh before the watch, in which the lease is not extended
COLLECT_EVERY_SECONDS = 0.4
EXTEND_EVERY_SECONDS = 1.0  # the lease
OUTAGES_EVERY_SECONDS = 5.0
MOST_ANNOUNCED = 500  # workloads whose pages are told of a change of their cluster
ANEW_SECONDS = 2.0  # seconds between two checks for a changed connection
RELIST_SECONDS = 300.0  # list again from time to time: a watch cannot prove that it missed nothing


@dataclass
class Watch:
    """A watch that can continue in the next turn.

    ``listed`` collects its initial list, and is ``None`` after that. ``agreed`` is what earlier
    lists showed to agree with the rows. If another process has turns in between, changes wait here.
    """

    engine: Engine
    observations: Generator[Observation | None]
    agreed: relist.Agreed = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    listed: list[Observation] | None = field(default_factory=list)

    def __post_init__(self) -> None:
        self.glances = NodePolls(self.engine)

    @classmethod
    def open(cls, engine: Engine, agreed: relist.Agreed | None = None) -> "Watch":
        return cls(engine, engine.watch(), agreed or {})

    @property
    def is_old(self) -> bool:
        return time.monotonic() - self.began > RELIST_SECONDS


#: Paused watches of this process, by cluster, until its next turn.
resting: dict[UUID, Watch] = {}
#: Held by the thread of this process that has a cluster's turn, or tries to get it.
turns: dict[UUID, Lock] = {}


def lease_name(cluster_id: UUID) -> str:
    return f"monitor:{cluster_id}"


def turn(cluster: Cluster) -> bool:
    """Watch for a minute. ``False`` if someone else watches, or the cluster does not answer."""
    lock = turns.setdefault(cluster.pk, Lock())
    if not lock.acquire(blocking=False):
        return False
    try:
        return _turn(cluster)
    finally:
        lock.release()


def _turn(cluster: Cluster) -> bool:
    """Take the lease, refresh the cluster, and watch. If this process dies the lease expires, and
    the next sweep starts another turn."""
    name = lease_name(cluster.pk)
    with hold_lease(name, seconds=LEASE_SECONDS, first_seconds=REFRESH_SECONDS) as extend:
        if extend is None:
            put_away(cluster.pk)
            return False
        wanted = partial(queues.wanted_queues, cluster)
        before = cluster.state
        answered = clusters.refresh(cluster, wanted)
        if cluster.state != before:
            _tell_pages(cluster)
        if not answered or not extend():
            return False
        try:
            _follow(cluster, extend)
        except EngineError as error:
            log.warning("%s: %s", cluster, error)  # the next refresh records the state
            return False
    return True


def _tell_pages(cluster: Cluster) -> None:
    """Have open pages reload active workloads, which show whether their cluster answers."""
    active = Workload.objects.filter(cluster=cluster, phase__in=ACTIVE, deleted_at=None)
    for workload in active.only("pk", "project_id")[:MOST_ANNOUNCED]:
        events.announce(workload)


def put_away(cluster_id: UUID) -> None:
    if watch := resting.pop(cluster_id, None):
        watch.observations.close()


def _take_up(cluster: Cluster) -> Watch:
    """The paused watch, unless it is outdated or its engine was replaced; else a new one."""
    engine = engine_for(cluster)
    watch = resting.pop(cluster.pk, None)
    if watch and watch.engine is engine and not watch.is_old:
        return watch
    if watch:
        watch.observations.close()
    return Watch.open(engine, watch.agreed if watch else None)


def _follow(cluster: Cluster, extend: Callable[[], bool]) -> None:
    watch = _take_up(cluster)
    try:
        Turn(cluster, watch, extend).follow()
    except BaseException:
        watch.observations.close()
        raise
    if extend() and Cluster.objects.filter(pk=cluster.pk).exists():
        resting[cluster.pk] = watch
    else:
        watch.observations.close()


@dataclass
class Turn:
    """A minute of watching."""

    cluster: Cluster
    watch: Watch
    extend: Callable[[], bool]
    began: float = field(default_factory=time.monotonic)
    collected: float = field(default_factory=time.monotonic)
    looked: float = field(default_factory=time.monotonic)
    checked: float = field(default_factory=time.monotonic)
    extended: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.ends = Ends(self.cluster, observed)

    def follow(self) -> None:
        """Apply observations until the minute is over, the lease is lost, or the connection
        changed."""
        self._follow()
        if self.extend():
            self.ends.tell_all()

    def _follow(self) -> None:
        for observation in self.watch.observations:
            if observation is None:
                cluster_events.note(self.cluster, self.watch.engine.events())
                if self.watch.listed is not None and not self._catch_up(self.watch.listed):
                    return
                self.watch.listed = None
            elif self.watch.listed is not None:
                self.watch.listed.append(observation)
            else:
                self.ends.take(observation)
            self.ends.go_on()
            is_over = time.monotonic() - self.began > TURN_SECONDS
            if not self._beat() or is_over or self._is_reached_anew():
                return

    def _catch_up(self, listed: list[Observation]) -> bool:
        """The list is complete: apply its changes, and give up workloads that it lacks. ``False``
        if the lease was lost."""
        for observation in relist.changed(self.cluster, listed, self.watch.agreed):
            self.ends.take(observation)
            if not self._beat():
                return False
        relist.forget_missing(self.cluster, listed)
        return True

    def _is_reached_anew(self) -> bool:
        """Whether the connection was changed, for example by a new kubeconfig, or the cluster was
        deleted."""
        if time.monotonic() - self.looked < ANEW_SECONDS:
            return False
        self.looked = time.monotonic()
        version = self.cluster.connection_version
        same = Cluster.objects.filter(pk=self.cluster.pk, connection_version=version)
        return not same.exists()

    def _beat(self) -> bool:
        """Periodic work: collect output, extend the lease, read nodes, report outages. ``False`` if
        the lease is lost."""
        if time.monotonic() - self.collected < COLLECT_EVERY_SECONDS:
            return True
        collect.collect(self.cluster)
        self.collected = time.monotonic()
        if self.collected - self.extended > EXTEND_EVERY_SECONDS:
            self.extended = self.collected
            if not self.extend():
                return False
        self.watch.glances.advance(self.cluster)
        if time.monotonic() - self.checked > OUTAGES_EVERY_SECONDS:
            self.checked = time.monotonic()
            outages.tell(self.cluster)
        return True


def observed(observation: Observation) -> None:
    """Apply one observation. An unreadable row, or values that no column holds, must not stop
    others."""
    workload = Workload.objects.with_state_columns().filter(pk=observation.workload_id).first()
    if workload is None:
        return
    try:
        if drift.is_resumed(workload, observation):
            drift.follow(workload)
        else:
            drift.follow_size(workload, observation)
            if reconcile.apply(workload, observation):
                drift.note_gone(workload, observation)
            reconcile.enforce(workload, observation)
    except (ValueError, DataError):
        log.exception("Could not apply what was seen of workload %s", observation.workload_id)
