"""Which engine talks to which cluster. The table is explicit; so is what each one needs."""

from collections.abc import Callable
from functools import cache
from uuid import UUID

from django.conf import settings

from clusters.models import Cluster, Kind
from core.fields import Unreadable
from engines.base import Engine, EngineUnavailable
from engines.local.engine import LocalEngine


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

    try:
        return KubernetesEngine(connect(cluster.connection.kubeconfig or None))
    except Unreadable as error:
        raise EngineUnavailable(str(error)) from error


ENGINES: dict[str, Callable[[Cluster], Engine]] = {
    Kind.LOCAL: _local,
    Kind.KUBERNETES: _kubernetes,
}


@cache
def _engine(kind: str, cluster_id: UUID) -> Engine:
    return ENGINES[kind](Cluster.objects.get(pk=cluster_id))


def engine_for(cluster: Cluster) -> Engine:
    """The engine of a cluster, one a process. ``EngineUnavailable`` when it is switched off."""
    return _engine(cluster.kind, cluster.pk)
