"""This process's engines, one per cluster connection, and what launches need to know of
clusters."""

from collections.abc import Iterator
from threading import Lock
from uuid import UUID

from django.conf import settings
from pydantic import ValidationError

from clusters.models import Cluster
from engines.base import Engine, EngineUnavailable, Handle, Launch, Site
from engines.findings import EXCLUDED
from spec.problems.errors import Problem
from spec.workload import WorkloadSpec

_lock = Lock()
_engines: dict[UUID, tuple[int, Engine]] = {}


def site_of(cluster: Cluster, spec: WorkloadSpec) -> Site:
    """What the last discovery and the administrators' settings say about a cluster, as far as the
    spec needs it.

    If the spec names a node pool, all are included: the default pool is what is in no other.
    """
    offer = cluster.capabilities
    pools = cluster.pools.all() if spec.node_pools else ()
    labels = {pool.name: (pool.label_key, pool.label_value) for pool in pools}
    site = Site(
        offer.schedulers,
        offer.priority_classes,
        labels,
        public_url=settings.PUBLIC_URL,
        partitions=offer.partitions,
        plain_jobs=offer.plain_jobs,
        containers=offer.containers,
    )
    try:
        return cluster.settings.apply_to(site)
    except ValidationError:  # nothing can be launched until they are corrected
        return site


def complaints(cluster: Cluster, handle: Handle, spec: WorkloadSpec) -> Iterator[Problem]:
    """Everything the engine would refuse at submission, as far as that is known without asking the
    cluster."""
    if cluster.refusal:
        yield Problem(("cluster",), f"{cluster.name} {EXCLUDED}")
    launch = Launch(handle, 1, spec, site=site_of(cluster, spec))
    yield from cluster.definition.complaints(cluster, launch)


def warnings(cluster: Cluster, handle: Handle, spec: WorkloadSpec) -> Iterator[Problem]:
    """What in the spec has no effect on the cluster, or is still to be created, and why."""
    site = Site(containers=cluster.capabilities.containers)  # warnings depend on nothing else
    launch = Launch(handle, 1, spec, site=site)
    yield from cluster.definition.warnings(cluster, launch)


def engine_for(cluster: Cluster) -> Engine:
    """The engine of a cluster, cached per process and connection.

    A row that was loaded before the connection changed gets the newer engine. ``EngineUnavailable``
    if the engine is switched off.
    """
    kept = _engines.get(cluster.pk)
    if kept is None or kept[0] < cluster.connection_version:
        kept = _connect(Cluster.objects.get(pk=cluster.pk))
    return kept[1]


def _connect(cluster: Cluster) -> tuple[int, Engine]:
    if cluster.settings_fault:
        raise EngineUnavailable(cluster.outage)
    new = cluster.connection_version, cluster.definition.connect(cluster)
    with _lock:  # connecting may take seconds: the first of two threads wins
        kept = _engines.get(cluster.pk)
        if kept is None or kept[0] < new[0]:
            _engines[cluster.pk] = kept = new
    return kept


def forget_engines() -> None:
    """Drop all engines, so that the next call connects again."""
    _engines.clear()
