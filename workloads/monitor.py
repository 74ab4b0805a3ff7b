"""Watching a cluster: one holder of the lease lists, then applies changes for a minute."""

import logging
import time
from collections.abc import Callable
from contextlib import closing
from uuid import UUID

from clusters import services as clusters
from clusters.engines import engine_for
from clusters.models import Cluster
from core.lease import lease
from engines.base import EngineError, Observation
from workloads import collect, reconcile
from workloads.models import Workload

log = logging.getLogger(__name__)

TURN_SECONDS = 60.0
LEASE_SECONDS = 5.0
COLLECT_EVERY_SECONDS = 0.4


def lease_name(cluster_id: UUID) -> str:
    return f"monitor:{cluster_id}"


def turn(cluster: Cluster) -> bool:
    """Watch for a minute. ``False`` when someone else watches, or nobody answers any more.

    The lease expires on its own when this process dies, and the next sweep starts another turn.
    """
    with lease(lease_name(cluster.pk), seconds=LEASE_SECONDS) as extend:
        if extend is None or not clusters.refresh(cluster):
            return False
        try:
            _follow(cluster, extend)
        except EngineError as error:
            log.warning("%s: %s", cluster, error)  # the next refresh writes down what it meets
            return False
    return True


def _follow(cluster: Cluster, extend: Callable[[], bool]) -> None:
    listed: set[UUID] | None = set()
    started = collected = time.monotonic()
    with closing(engine_for(cluster).watch()) as watch:
        for seen in watch:
            if seen is None:
                _forget_missing(cluster, listed)
                listed = None
            else:
                if listed is not None:
                    listed.add(seen.workload_id)
                observed(seen)
            now = time.monotonic()
            if now - collected >= COLLECT_EVERY_SECONDS:
                collect.collect(cluster)
                collected = time.monotonic()
                if not extend() or now - started > TURN_SECONDS:
                    break


def observed(seen: Observation) -> None:
    """Apply one observation. A row that cannot be read must not stop the others."""
    workload = (
        Workload.objects.select_related("project", "cluster").filter(pk=seen.workload_id).first()
    )
    if workload is None:
        return
    try:
        reconcile.apply(workload, seen)
        reconcile.enforce(workload, seen)
    except ValueError:
        log.exception("Could not apply what was seen of workload %s", seen.workload_id)


def _forget_missing(cluster: Cluster, listed: set[UUID] | None) -> None:
    """After a full list: what was handed over in this run and is not there any more is lost."""
    if listed is None:
        return
    there = Workload.objects.filter(
        cluster=cluster, phase__in=reconcile.HANDED_OVER, deleted_at=None
    )
    for workload in there.exclude(pk__in=listed).select_related("project", "cluster"):
        if workload.observed_run == workload.run:
            reconcile.lost(workload)
