"""What Trainyard does with clusters: keep them as administrators say, and look what they have."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils import timezone

from accounts.models import User
from clusters import nodes, states
from clusters.engines import engine_for
from clusters.models import PREFIX, Cluster, Connection, Kind, State
from core import outbox
from core.words import some
from engines.base import Engine, EngineError, EngineRefused, EngineUnavailable, Finding, Level
from engines.queues import Wanted

LOCAL = "local"
QUOTAS = "Quotas"  # the area of findings about queues
SETTINGS = ("ingress_domain", "ingress_class", "prometheus_url")
LOOKED_AT = ("state", "state_message", "findings_json", "checked_at")  # what a look writes down


class HasProjects(Exception):
    """The cluster cannot go; the text says why."""


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


def create_kubernetes(
    *, by: User, name: str, kubeconfig: str, namespace_prefix: str, **settings: str
) -> Cluster:
    """A Kubernetes cluster that waits to connect: a worker is asked to look at it at once.

    An empty ``kubeconfig`` is our own pod's account; ``settings`` are those of ``SETTINGS``.
    ``ValidationError`` names the fields that are wrong.
    """
    check(by)
    cluster = Cluster(
        name=name, kind=Kind.KUBERNETES, namespace_prefix=namespace_prefix, **settings
    )
    cluster.full_clean()
    with _one_name():
        cluster.save()
        Connection.objects.create(cluster=cluster, kubeconfig=kubeconfig)
        ask(cluster)
    return cluster


def update_kubernetes(
    cluster: Cluster, *, by: User, kubeconfig: str | None, **values: str
) -> Cluster:
    """Change it; ``kubeconfig=None`` keeps the connection as it is. ``values`` are its name, its
    namespace prefix and those of ``SETTINGS``; what is left out stays. ``ValidationError`` names
    the fields that are wrong. What was seen by the way before is forgotten, and a worker looks
    anew."""
    check(by)
    with _one_name():
        # Of two changes at once each gets a version of its own, and no project comes meanwhile.
        cluster.refresh_from_db(from_queryset=Cluster.objects.select_for_update())
        differs = {name for name, value in values.items() if value != getattr(cluster, name)}
        if "namespace_prefix" in differs and cluster.projects.exists():
            text = "Projects have their namespaces by this prefix, so it stays while there are any."
            raise ValidationError({"namespace_prefix": text})
        for name, value in values.items():
            setattr(cluster, name, value)
        changed = [*values]
        anew = kubeconfig is not None or bool(differs & {"namespace_prefix", "prometheus_url"})
        if anew:
            cluster.connection_version += 1
            cluster.state, cluster.state_message = State.WAITING, ""
            cluster.findings_json, cluster.checked_at = [], None
            changed += ["connection_version", *LOOKED_AT]
        cluster.full_clean()
        if kubeconfig is not None:
            _keep_connection(cluster, kubeconfig)
        cluster.save(update_fields=changed)
        if anew:
            ask(cluster)
    return cluster


@contextmanager
def _one_name() -> Iterator[None]:
    """A transaction. Who takes a name a moment later than somebody else is told as usual."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        taken = Cluster().unique_error_message(Cluster, ("name",))
        raise ValidationError({"name": taken}) from error


def _keep_connection(cluster: Cluster, kubeconfig: str) -> None:
    """The one before is not read: it may be unreadable since ``SECRET_KEY`` changed."""
    known = Connection.objects.filter(cluster=cluster)
    if not known.update(kubeconfig=kubeconfig):
        Connection.objects.create(cluster=cluster, kubeconfig=kubeconfig)


def ask(cluster: Cluster) -> None:
    """Have a worker look at it after the commit, without waiting for the monitor's next turn.

    A message that is lost costs the time until that turn.
    """
    outbox.send("clusters.look", cluster.pk, outbox.SUBMIT)


def delete_cluster(cluster: Cluster, *, by: User) -> None:
    """Forget a cluster, its nodes and node pools. ``HasProjects`` while any project is on it."""
    check(by)
    if obstacle := obstacle_to_delete(cluster):
        raise HasProjects(obstacle)
    try:
        cluster.delete()
    except ProtectedError as error:
        raise HasProjects(f"{cluster} got a project a moment ago. Look again.") from error


def obstacle_to_delete(cluster: Cluster) -> str:
    """Why it cannot be deleted now, in words; empty where it can."""
    if cluster.kind == Kind.LOCAL:
        return "This machine is a cluster for as long as the local engine is on."
    present = cluster.projects.order_by("name").values_list("name", flat=True)
    names = some(list(present[:4]))
    return f"{cluster} has projects: {names}. Delete them first." if names else ""


def check(by: User) -> None:
    """``PermissionDenied`` for whoever may not manage clusters."""
    if not by.is_administrator:
        raise PermissionDenied("Clusters are for administrators to manage.")


def refresh(cluster: Cluster, queues: Wanted | None = None) -> bool:
    """Ask the cluster what it offers and write it down; ``False`` when it cannot be watched.

    Its queues become those that are given, where it holds to quotas itself.
    """
    try:
        _ask(cluster, queues)
    except EngineUnavailable as error:
        _note(cluster, *states.away(error))
        return False
    except EngineRefused as error:
        _note(cluster, State.MISSING, str(error))
        return False
    return True


def _note(cluster: Cluster, state: State, message: str, findings: tuple[Finding, ...] = ()) -> bool:
    """Only what was seen: an administrator may have changed the rest meanwhile.

    ``False``, and nothing is written, when the cluster is reached in another way since the look
    began, or was deleted. Holds its row until the transaction ends: looks come one after another.
    """
    cluster.state, cluster.state_message = state, message
    cluster.findings_json = [asdict(finding) for finding in findings]
    cluster.checked_at = timezone.now()
    same = Cluster.objects.filter(pk=cluster.pk, connection_version=cluster.connection_version)
    return bool(same.update(**{name: getattr(cluster, name) for name in LOOKED_AT}))


def _ask(cluster: Cluster, queues: Wanted | None = None) -> None:
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
    if capabilities.quotas:
        findings += _kept(cluster, engine, queues)
        state, message = states.verdict(findings)
    with transaction.atomic():
        if _note(cluster, state, message, findings):
            cluster.capabilities_json = asdict(capabilities)
            cluster.save(update_fields=["capabilities_json"])
            nodes.store(cluster, seen)


def _kept(cluster: Cluster, engine: Engine, queues: Wanted | None) -> tuple[Finding, ...]:
    """How keeping the queues went; where nobody says what they should be, how it went before.

    A failure is one of the scheduler's, such as its webhook: the cluster itself did answer.
    """
    if queues is None:
        return tuple(finding for finding in cluster.findings if finding.area == QUOTAS)
    try:
        engine.keep_queues(queues)
    except EngineError as error:
        text = f"They are not as the projects' quotas: {error} Workloads may wait for theirs."
        return (Finding(QUOTAS, "KAI queues", Level.ISSUE, text),)
    return (Finding(QUOTAS, "KAI queues", Level.OK, "As the quotas of the projects"),)
