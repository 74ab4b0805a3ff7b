"""What Trainyard does with clusters: make the local one, and look at what they have."""

from dataclasses import asdict

from django.db import transaction
from django.utils import timezone

from clusters import nodes, states
from clusters.engines import engine_for
from clusters.models import PREFIX, Cluster, Connection, Kind, State
from engines.base import EngineRefused, EngineUnavailable, Finding

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
    """Ask the cluster what it offers and write it down; ``False`` when it cannot be watched."""
    try:
        _ask(cluster)
    except EngineUnavailable as error:
        _note(cluster, *states.away(error))
        return False
    except EngineRefused as error:
        _note(cluster, State.MISSING, str(error))
        return False
    return True


def _note(cluster: Cluster, state: State, message: str, findings: tuple[Finding, ...] = ()) -> None:
    """Only what was seen: an administrator may have changed the rest meanwhile."""
    cluster.state, cluster.state_message = state, message
    cluster.findings_json = [asdict(finding) for finding in findings]
    cluster.checked_at = timezone.now()
    cluster.save(update_fields=["state", "state_message", "findings_json", "checked_at"])


def _ask(cluster: Cluster) -> None:
    """Network first, one transaction after. What lacks is written down even where it keeps us
    from looking at the rest."""
    engine = engine_for(cluster)
    findings = engine.check()
    state, message = states.verdict(findings)
    try:
        capabilities, seen = engine.capabilities(), engine.nodes()
    except EngineRefused:
        if state is not State.MISSING:
            raise
        _note(cluster, state, message, findings)
        return
    with transaction.atomic():
        _note(cluster, state, message, findings)
        cluster.capabilities_json = asdict(capabilities)
        cluster.save(update_fields=["capabilities_json"])
        nodes.store(cluster, seen)
