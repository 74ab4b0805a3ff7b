"""Which engine talks to which cluster. The table is explicit; so is what each one needs."""

from collections.abc import Callable
from threading import Lock
from uuid import UUID

from django.conf import settings

from clusters.models import Cluster, Kind
from core.fields import Unreadable
from engines.base import Engine, EngineRefused, EngineUnavailable, Handle, Launch, Site
from engines.local.engine import LocalEngine
from engines.local.refusals import check_known
from spec.workload import WorkloadSpec


def _local(cluster: Cluster) -> Engine:
    if not settings.LOCAL_ENGINE:
        raise EngineUnavailable("The local engine is switched off (TRAINYARD_LOCAL_ENGINE=off).")
    return LocalEngine(
        settings.LOCAL_ENGINE_HOME,
        images=settings.LOCAL_IMAGES,
        virtual_gpus=settings.LOCAL_VIRTUAL_GPUS,
    )


def _kubernetes(cluster: Cluster) -> Engine:
    # The client library is large: a process that never talks to Kubernetes does without it.
    from engines.kubernetes.connecting import connect
    from engines.kubernetes.engine import KubernetesEngine
    from engines.kubernetes.sources import Images

    try:
        api = connect(cluster.connection.kubeconfig or None)
    except Unreadable as error:
        raise EngineUnavailable(str(error)) from error
    images = Images(
        git=settings.KUBERNETES_GIT_IMAGE or Images.git,
        s3=settings.KUBERNETES_S3_IMAGE or Images.s3,
    )
    return KubernetesEngine(
        api,
        prefix=cluster.namespace_prefix,
        images=images,
        prometheus=cluster.prometheus_url,
        log_streams=settings.LOG_STREAMS,
    )


ENGINES: dict[str, Callable[[Cluster], Engine]] = {
    Kind.LOCAL: _local,
    Kind.KUBERNETES: _kubernetes,
}

_lock = Lock()
_engines: dict[UUID, tuple[int, Engine]] = {}


def site_of(cluster: Cluster, spec: WorkloadSpec) -> Site:
    """What the cluster's last discovery and its administrators say of it, as far as the spec asks.

    Where one node pool is named all are told: the default one is what the others are not.
    """
    offer = cluster.capabilities
    pools = cluster.pools.all() if spec.node_pools else ()
    labels = {pool.name: (pool.label_key, pool.label_value) for pool in pools}
    return Site(
        offer.schedulers,
        offer.priority_classes,
        labels,
        ingress_domain=cluster.ingress_domain,
        ingress_class=cluster.ingress_class,
        public_url=settings.PUBLIC_URL,
    )


def external_urls(cluster: Cluster) -> str:
    """Why tools can have no URL of their own there; empty where they can. On one machine such a URL
    leads through Trainyard."""
    if cluster.kind != Kind.KUBERNETES:
        return ""
    if not cluster.ingress_domain:
        return f"the cluster {cluster.name} has no domain for it, which its administrator can name"
    return "" if settings.PUBLIC_URL else "Trainyard's own address, PUBLIC_URL, is not set"


def refusal(cluster: Cluster, handle: Handle, spec: WorkloadSpec) -> EngineRefused | None:
    """What the engine would refuse at submission, as far as that is known without asking the
    cluster or looking at the machine."""
    try:
        if cluster.kind == Kind.KUBERNETES:
            from engines.kubernetes.refusals import kind_of

            kind_of(Launch(handle, 1, spec, site=site_of(cluster, spec)))
        else:
            check_known(spec)
    except EngineRefused as error:
        return error
    return None


def engine_for(cluster: Cluster) -> Engine:
    """The engine of a cluster, one a process and connection.

    A row that was read before the connection changed gets the engine of the newer one.
    ``EngineUnavailable`` when it is switched off.
    """
    known = _engines.get(cluster.pk)
    if known is None or known[0] < cluster.connection_version:
        known = _keep(Cluster.objects.get(pk=cluster.pk))
    return known[1]


def _keep(cluster: Cluster) -> tuple[int, Engine]:
    made = cluster.connection_version, ENGINES[cluster.kind](cluster)
    with _lock:  # making one may take seconds; of two threads the first one's is used by both
        known = _engines.get(cluster.pk)
        if known is None or known[0] < made[0]:
            _engines[cluster.pk] = known = made
    return known
