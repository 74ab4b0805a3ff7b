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
from workloads.worker import cluster_events, collect, drift, outages, pools, relist
from workloads.worker.ends import PendingEnds

log = logging.getLogger(__name__)

TURN_SECONDS = 60.0
LEASE_SECONDS = 5.0
REFRESH_SECONDS = 30.0  # for the refresh before the watch, in which the lease is not extended
COLLECT_EVERY_SECONDS = 0.4
EXTEND_EVERY_SECONDS = 1.0  # the lease
OUTAGES_EVERY_SECONDS = 5.0
MOST_ANNOUNCED = 500  # workloads whose pages hear about a change of their cluster
CONNECTION_CHECK_SECONDS = 2.0  # seconds between two checks for a changed connection
RELIST_SECONDS = 300.0  # list again from time to time: a watch cannot prove that it missed nothing


@dataclass
class Watch:
    """A watch that can continue in the next turn.

    ``initial_list`` collects it, and is ``None`` after that. ``agreed`` is what earlier
    lists showed to agree with the rows. If another process has turns in between, changes wait here.
    """

    engine: Engine
    observations: Generator[Observation | None]
    agreed: relist.Agreed = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    initial_list: list[Observation] | None = field(default_factory=list)

    def __post_init__(self) -> None:
        self.glances = NodePolls(self.engine)

    @classmethod
    def open(cls, engine: Engine, agreed: relist.Agreed | None = None) -> "Watch":
        return cls(engine, engine.watch(), agreed or {})

    @property
    def is_old(self) -> bool:
        return time.monotonic() - self.began > RELIST_SECONDS


#: Paused watches of this process, by cluster, until its next turn.
resting_watches: dict[UUID, Watch] = {}
#: Held by the thread of this process that has a cluster's turn, or tries to get it.
turn_locks: dict[UUID, Lock] = {}


def lease_name(cluster_id: UUID) -> str:
    return f"monitor:{cluster_id}"


def watch_cluster(cluster: Cluster) -> bool:
    """Watch for a minute. ``False`` if someone else watches, or the cluster does not answer."""
    lock = turn_locks.setdefault(cluster.pk, Lock())
    if not lock.acquire(blocking=False):
        return False
    try:
        return _watch_with_lease(cluster)
    finally:
        lock.release()


def _watch_with_lease(cluster: Cluster) -> bool:
    """Take the lease, refresh the cluster, and watch. If this process dies the lease expires, and
    the next sweep starts another turn."""
    name = lease_name(cluster.pk)
    with hold_lease(name, seconds=LEASE_SECONDS, first_seconds=REFRESH_SECONDS) as extend:
        if extend is None:
            close_resting_watch(cluster.pk)
            return False
        wanted = partial(queues.wanted_queues, cluster)
        before = cluster.state
        answered = clusters.refresh(cluster, wanted)
        if cluster.state != before:
            _tell_pages(cluster)
        if not answered or not extend():
            return False
        pools.settle_pools(cluster)
        try:
            _run_turn(cluster, extend)
        except EngineError as error:
            log.warning("%s: %s", cluster, error)  # the next refresh records the state
            return False
    return True


def _tell_pages(cluster: Cluster) -> None:
    """Have open pages reload active workloads, which show whether their cluster answers."""
    active = Workload.objects.filter(cluster=cluster, phase__in=ACTIVE, deleted_at=None)
    for workload in active.only("pk", "project_id")[:MOST_ANNOUNCED]:
        events.announce(workload)


def close_resting_watch(cluster_id: UUID) -> None:
    if watch := resting_watches.pop(cluster_id, None):
        watch.observations.close()


def _open_watch(cluster: Cluster) -> Watch:
    """Return the paused watch, unless it is outdated or its engine was replaced; else a new one."""
    engine = engine_for(cluster)
    watch = resting_watches.pop(cluster.pk, None)
    if watch and watch.engine is engine and not watch.is_old:
        return watch
    if watch:
        watch.observations.close()
    return Watch.open(engine, watch.agreed if watch else None)


def _run_turn(cluster: Cluster, extend: Callable[[], bool]) -> None:
    watch = _open_watch(cluster)
    try:
        WatchTurn(cluster, watch, extend).follow()
    except BaseException:
        watch.observations.close()
        raise
    if extend() and Cluster.objects.filter(pk=cluster.pk).exists():
        resting_watches[cluster.pk] = watch
    else:
        watch.observations.close()


@dataclass
class WatchTurn:
    """A minute of watching, in the thread that holds the cluster's lease. ``extend`` extends the
    lease, and returns ``False`` once it is lost."""

    cluster: Cluster
    watch: Watch
    extend: Callable[[], bool]
    began: float = field(default_factory=time.monotonic)
    collected_at: float = field(default_factory=time.monotonic)
    connection_checked_at: float = field(default_factory=time.monotonic)
    outages_checked_at: float = field(default_factory=time.monotonic)
    extended_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.ends = PendingEnds(self.cluster, apply_observation)

    def follow(self) -> None:
        """Apply observations until the minute is over, the lease is lost, or the connection
        changed."""
        self._follow()
        if self.extend():
            self.ends.store_all()

    def _follow(self) -> None:
        for observation in self.watch.observations:
            if observation is None:
                cluster_events.store_events(self.cluster, self.watch.engine.events())
                if self.watch.initial_list is not None and not self._catch_up(
                    self.watch.initial_list
                ):
                    return
                self.watch.initial_list = None
            elif self.watch.initial_list is not None:
                self.watch.initial_list.append(observation)
            else:
                self.ends.handle(observation)
            self.ends.store_ready()
            is_over = time.monotonic() - self.began > TURN_SECONDS
            if not self._do_periodic_work() or is_over or self._has_connection_changed():
                return

    def _catch_up(self, listed: list[Observation]) -> bool:
        """The list is complete: apply its changes, and give up workloads that it lacks. ``False``
        if the lease was lost."""
        for observation in relist.changed_observations(self.cluster, listed, self.watch.agreed):
            self.ends.handle(observation)
            if not self._do_periodic_work():
                return False
        relist.forget_missing(self.cluster, listed)
        return True

    def _has_connection_changed(self) -> bool:
        """Whether the connection was changed, for example by a new kubeconfig, or the cluster was
        deleted. Asks the database every ``CONNECTION_CHECK_SECONDS``."""
        if time.monotonic() - self.connection_checked_at < CONNECTION_CHECK_SECONDS:
            return False
        self.connection_checked_at = time.monotonic()
        version = self.cluster.connection_version
        same = Cluster.objects.filter(pk=self.cluster.pk, connection_version=version)
        return not same.exists()

    def _do_periodic_work(self) -> bool:
        """Periodic work: collect output, extend the lease, read nodes, report outages. ``False`` if
        the lease is lost."""
        if time.monotonic() - self.collected_at < COLLECT_EVERY_SECONDS:
            return True
        collect.collect_output(self.cluster)
        self.collected_at = time.monotonic()
        # Once the lease is lost, another process watches this cluster.
        if self.collected_at - self.extended_at > EXTEND_EVERY_SECONDS:
            self.extended_at = self.collected_at
            if not self.extend():
                return False
        self.watch.glances.advance(self.cluster)
        if time.monotonic() - self.outages_checked_at > OUTAGES_EVERY_SECONDS:
            self.outages_checked_at = time.monotonic()
            outages.store_findings(self.cluster)
        return True


def apply_observation(observation: Observation) -> None:
    """Apply one observation. An unreadable row, or values that no column holds, must not stop
    others."""
    workload = Workload.objects.with_state_columns().filter(pk=observation.workload_id).first()
    if workload is None:
        return
    try:
        if drift.is_resumed(workload, observation):
            drift.follow_resumption(workload)
        else:
            drift.follow_size(workload, observation)
            if reconcile.apply(workload, observation):
                drift.record_if_gone(workload, observation)
            reconcile.enforce(workload, observation)
    except (ValueError, DataError):
        log.exception("Could not apply what was seen of workload %s", observation.workload_id)
