"""The engines of this process, one for each connection, and what a launch has to know about its
cluster."""

from collections.abc import Iterator
from threading import Lock
from uuid import UUID

from django.conf import settings
from pydantic import ValidationError

from clusters.models import Cluster
from engines.base import Engine, EngineUnavailable, Handle, Launch, Site
from engines.findings import EXCLUDED
from spec.problems.causes import Cause
from spec.problems.errors import Problem
from spec.workload import WorkloadSpec

_lock = Lock()
_engines: dict[UUID, tuple[int, Engine]] = {}


def site_of(cluster: Cluster, spec: WorkloadSpec) -> Site:
    """Return what a launch of the spec has to know about a cluster, from the last check and the
    administrators' settings.

    If the spec names a node pool, all pools are included, because the default pool consists of the
    nodes that are in no other.
    """
    capabilities = cluster.capabilities
    pools = cluster.pools.all() if spec.node_pools else ()
    labels = {pool.name: (pool.label_key, pool.label_value) for pool in pools}
    site = Site(
        capabilities.schedulers,
        capabilities.priority_classes,
        labels,
        public_url=settings.PUBLIC_URL,
        partitions=capabilities.partitions,
        accounts=capabilities.accounts,
        qos=capabilities.qos,
        containers=capabilities.containers,
        kueue=bool(capabilities.kueue),
        semi_preemptible=capabilities.semi_preemptible,
        plain_frameworks=frozenset(it.framework for it in capabilities.frameworks if it.is_plain),
    )
    try:
        return cluster.settings.apply_to(site)
    except ValidationError:  # nothing can be launched until they are corrected
        return site


def complaints(cluster: Cluster, handle: Handle, spec: WorkloadSpec) -> Iterator[Problem]:
    """Yield everything that the engine would refuse at submission, as far as that is known without
    asking the cluster."""
    if cluster.refusal:
        yield Problem(("cluster",), f"{cluster.name} {EXCLUDED}")
    launch = Launch(handle, 1, spec, site=site_of(cluster, spec))
    yield from cluster.definition.complaints(cluster, launch)


def never_starts(cluster: Cluster, handle: Handle, spec: WorkloadSpec) -> Cause | None:
    """Return why the cluster would never start the spec, beyond what its nodes show."""
    launch = Launch(handle, 1, spec, site=site_of(cluster, spec))
    return cluster.definition.never_starts(cluster, launch)


def waits_for(cluster: Cluster, handle: Handle, spec: WorkloadSpec) -> Cause | None:
    """Return what the spec would wait for that does not exist on the cluster yet."""
    launch = Launch(handle, 1, spec, site=site_of(cluster, spec))
    return cluster.definition.waits_for(cluster, launch)


def runs_as(cluster: Cluster, handle: Handle, spec: WorkloadSpec) -> str:
    """Say what would run the spec on the cluster and why; empty if there is nothing to tell."""
    launch = Launch(handle, 1, spec, site=site_of(cluster, spec))
    return cluster.definition.runs_as(cluster, launch)


def warnings(cluster: Cluster, handle: Handle, spec: WorkloadSpec) -> Iterator[Problem]:
    """Yield, with the reason, the parts of the spec that have no effect on the cluster, or need
    something that is still to be created."""
    site = Site(containers=cluster.capabilities.containers)  # warnings depend on nothing else
    launch = Launch(handle, 1, spec, site=site)
    yield from cluster.definition.warnings(cluster, launch)


def engine_for(cluster: Cluster) -> Engine:
    """Return the engine of a cluster, which is cached for each process and connection.

    A row that was loaded before the connection changed gets the newer engine. ``EngineUnavailable``
    if the engine is switched off, or the settings are not valid.
    """
    cached = _engines.get(cluster.pk)
    if cached is None or cached[0] < cluster.connection_version:
        cached = _connect(Cluster.objects.get(pk=cluster.pk))
    return cached[1]


def _connect(cluster: Cluster) -> tuple[int, Engine]:
    """Connect to a cluster, and return the version of its connection with the engine."""
    if cluster.settings_fault:
        raise EngineUnavailable(cluster.outage)
    connected = (cluster.connection_version, cluster.definition.connect(cluster))
    # Connecting may take seconds, so it happens outside the lock. Of two threads that connect at
    # the same time, the first one's engine is used, and a newer version is never replaced by an
    # older.
    with _lock:
        cached = _engines.get(cluster.pk)
        if cached is not None and cached[0] >= connected[0]:
            return cached
        _engines[cluster.pk] = connected
    return connected


def forget_engines() -> None:
    """Drop all engines, so that the next call connects again."""
    _engines.clear()
