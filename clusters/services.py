"""What Trainyard does with clusters: make the local one, and look at what they have."""

from dataclasses import asdict

from django.db import transaction
from django.utils import timezone

from clusters.engines import engine_for
from clusters.models import PREFIX, Cluster, Connection, Kind, Node, State
from engines.base import EngineRefused, EngineUnavailable
from engines.base import Node as SeenNode

LOCAL = "local"


def ensure_local() -> Cluster:
    """The cluster of this machine, made on first run."""
    return Cluster.objects.get_or_create(kind=Kind.LOCAL, defaults={"name": LOCAL})[0]


def add_kubernetes(name: str, kubeconfig: str, *, namespace_prefix: str = PREFIX) -> Cluster:
    """A Kubernetes cluster, once it has answered; an empty ``kubeconfig`` is our own pod's account.

    ``ValidationError`` names the fields that are wrong; ``EngineError`` is what the cluster said,
    and then nothing is kept.
    """
    with transaction.atomic():
        cluster = Cluster(name=name, kind=Kind.KUBERNETES, namespace_prefix=namespace_prefix)
        cluster.full_clean()
        cluster.save()
        Connection.objects.create(cluster=cluster, kubeconfig=kubeconfig)
        _ask(cluster)
    return cluster


def refresh(cluster: Cluster) -> bool:
    """Ask the cluster what it offers and write it down; ``False`` when it does not answer."""
    try:
        _ask(cluster)
    except EngineUnavailable as error:
        return _note(cluster, State.DISCONNECTED, error)
    except EngineRefused as error:
        return _note(cluster, State.MISSING, error)
    return True


def _note(cluster: Cluster, state: State, error: Exception) -> bool:
    Cluster.objects.filter(pk=cluster.pk).update(
        state=state, state_message=str(error), checked_at=timezone.now()
    )
    return False


def _ask(cluster: Cluster) -> None:
    """Network first, one transaction after."""
    engine = engine_for(cluster)
    capabilities, nodes = engine.capabilities(), engine.nodes()
    with transaction.atomic():
        cluster.capabilities_json = asdict(capabilities)
        cluster.state, cluster.state_message = State.CONNECTED, ""
        cluster.checked_at = timezone.now()
        # Only what was seen: an administrator may have changed the rest meanwhile.
        cluster.save(update_fields=["capabilities_json", "state", "state_message", "checked_at"])
        _store_nodes(cluster, nodes)


def _store_nodes(cluster: Cluster, nodes: tuple[SeenNode, ...]) -> None:
    cluster.nodes.exclude(name__in=[node.name for node in nodes]).delete()
    for seen in nodes:
        Node.objects.update_or_create(
            cluster=cluster,
            name=seen.name,
            defaults={
                "ready": seen.ready,
                "message": seen.message,
                "cpu": seen.cpu,
                "memory": seen.memory,
                "gpus_json": [asdict(gpu) for gpu in seen.gpus],
            },
        )
