"""What Trainyard does with clusters: keep them as administrators say, and look what they have."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils import timezone

from accounts import access
from accounts.models import User
from audit import services as audit
from clusters import health
from clusters.connections import engine_for
from clusters.kinds.base import ClusterKind, ConnectionSecret
from clusters.kinds.local import LOCAL
from clusters.models import Cluster, Connection, State
from clusters.nodes import store
from core.broker import enqueue
from core.rest.verdicts import judge_all
from core.words import some
from engines.base import Engine, EngineError, EngineRefused, EngineUnavailable
from engines.findings import Finding, Level
from engines.queues import Wanted

QUOTAS = "Quotas"  # the area of findings about queues
WORKLOADS = "Workloads"  # that of findings about what workloads wait for; others tell them
LOOKED_AT = ("state", "state_message", "findings_json", "checked_at")  # what a look writes down


class HasProjects(Exception):
    """The cluster cannot go; the text says why."""


def ensure_local() -> Cluster:
    """The cluster of this machine, made on first run."""
    return Cluster.objects.get_or_create(kind=LOCAL.slug, defaults={"name": LOCAL.slug})[0]


def add_at_once(
    kind: ClusterKind, *, name: str, settings: Mapping[str, Any], secret: ConnectionSecret
) -> Cluster:
    """A cluster, once it has answered.

    ``ValidationError`` names the fields that are wrong; ``EngineError`` is what the cluster said,
    and then nothing is kept.
    """
    with transaction.atomic():
        cluster = _new(kind, name, settings, secret)
        audit.record(None, "create", cluster, after=_facts(cluster))
        _ask(cluster)
    return cluster


def create(
    kind: ClusterKind,
    *,
    by: User,
    name: str,
    settings: Mapping[str, Any],
    secret: ConnectionSecret,
) -> Cluster:
    """A cluster that waits to connect: a worker is asked to look at it at once.

    ``ValidationError`` names the fields that are wrong.
    """
    access.require(by, "clusters.create")
    with _one_name():
        cluster = _new(kind, name, settings, secret)
        audit.record(by, "create", cluster, after=_facts(cluster))
        ask(cluster)
    return cluster


def _new(
    kind: ClusterKind, name: str, settings: Mapping[str, Any], secret: ConnectionSecret
) -> Cluster:
    cluster = Cluster(kind=kind.slug)
    judge(cluster, name=name, settings=settings)
    cluster.save()
    Connection.objects.create(cluster=cluster, secret_json=secret.model_dump_json())
    return cluster


def update(
    cluster: Cluster,
    *,
    by: User,
    secret: ConnectionSecret | None,
    name: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Cluster:
    """Change what is given; ``secret=None`` keeps the connection as it is. ``ValidationError``
    names the fields that are wrong. What was seen by the way before is forgotten, and a worker
    looks anew."""
    access.require(by, "clusters.update", *cluster.scope_keys)
    with _one_name():
        # Of two changes at once each gets a version of its own, and no project comes meanwhile.
        cluster.refresh_from_db(from_queryset=Cluster.objects.select_for_update())
        was, before = _facts(cluster), settings_of(cluster)
        name = cluster.name if name is None else name
        judge(cluster, name=name, settings=settings or {})
        changed = ["name", "settings_json"]
        differs = {key for key, value in cluster.settings_json.items() if value != before.get(key)}
        if secret is not None or differs & cluster.definition.reached_by:
            cluster.connection_version += 1
            cluster.state, cluster.state_message = State.WAITING, ""
            cluster.findings_json, cluster.checked_at = [], None
            changed += ["connection_version", *LOOKED_AT]
            ask(cluster)
        if secret is not None:
            _keep_connection(cluster, secret)
        cluster.save(update_fields=changed)
        audit.record(by, "update", cluster, before=was, after=_facts(cluster))
    return cluster


def settings_of(cluster: Cluster) -> dict[str, Any]:
    """As they are, right or wrong, so that what is wrong can be changed."""
    fresh = cluster.definition.settings().model_dump()
    return {key: cluster.settings_json.get(key, value) for key, value in fresh.items()}


def judge(cluster: Cluster, *, name: str, settings: Mapping[str, Any]) -> None:
    """Gives it this name and these settings, the others as they are, and saves nothing.
    ``ValidationError`` names everything that is wrong with it now."""
    kind, before, fault = cluster.definition, settings_of(cluster), cluster.settings_fault
    settings = {**before, **settings}
    cluster.name = name

    def take_settings() -> None:
        cluster.settings_json = kind.judge(settings).model_dump()

    def keep_what_projects_need() -> None:
        changed = [key for key in kind.fixed if settings[key] != before[key]]
        is_new = cluster._state.adding
        if changed and not (is_new or fault) and cluster.projects.exists():
            raise ValidationError({key: kind.fixed[key] for key in changed})

    judge_all(take_settings, keep_what_projects_need, cluster.full_clean)


@contextmanager
def _one_name() -> Iterator[None]:
    """A transaction. Who takes a name a moment later than somebody else is told as usual."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        taken = Cluster().unique_error_message(Cluster, ("name",))
        raise ValidationError({"name": taken}) from error


def _keep_connection(cluster: Cluster, secret: ConnectionSecret) -> None:
    """The one before is not read: it may be unreadable since ``SECRET_KEY`` changed."""
    text, connections = secret.model_dump_json(), Connection.objects.filter(cluster=cluster)
    if not connections.update(secret_json=text):
        Connection.objects.create(cluster=cluster, secret_json=text)


def _facts(cluster: Cluster) -> dict[str, Any]:
    """What people decide; that the connection changed shows by its version alone."""
    own = {"name": cluster.name, "kind": cluster.kind, "version": cluster.connection_version}
    return {**own, **cluster.settings_json}


def ask(cluster: Cluster) -> None:
    """Have a worker look at it after the commit, without waiting for the monitor's next turn.

    A message that is lost costs the time until that turn.
    """
    enqueue.send("clusters.look", cluster.pk, enqueue.SUBMIT)


def delete_cluster(cluster: Cluster, *, by: User) -> None:
    """Forget a cluster, its nodes and node pools. ``HasProjects`` while any project is on it."""
    access.require(by, "clusters.delete", *cluster.scope_keys)
    if obstacle := obstacle_to_delete(cluster):
        raise HasProjects(obstacle)
    try:
        with transaction.atomic():
            audit.record(by, "delete", cluster, before=_facts(cluster))
            cluster.delete()
    except ProtectedError as error:
        raise HasProjects(f"{cluster} just got a project. Try again.") from error


def obstacle_to_delete(cluster: Cluster) -> str:
    """Why it cannot be deleted now, in words; empty where it can."""
    if cluster.definition.permanent:
        return cluster.definition.permanent
    present = cluster.projects.order_by("name").values_list("name", flat=True)
    names = some(list(present[:4]))
    return f"{cluster} has projects: {names}. Delete them first." if names else ""


def refresh(cluster: Cluster, queues: Wanted | None = None) -> bool:
    """Ask the cluster what it offers and write it down; ``False`` when it cannot be watched.

    Its queues become those that are given, where it holds to quotas itself.
    """
    try:
        _ask(cluster, queues)
    except EngineUnavailable as error:
        _note(cluster, *health.away(error))
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
    state, message = health.verdict(findings)
    try:
        capabilities, nodes = engine.capabilities(), engine.nodes()
    except EngineRefused:
        if state is not State.MISSING:
            raise
        _note(cluster, state, message, findings)
        return
    if capabilities.quotas:
        findings += _kept(cluster, engine, queues)
    findings += tuple(finding for finding in cluster.findings if finding.area == WORKLOADS)
    state, message = health.verdict(findings)
    with transaction.atomic():
        if _note(cluster, state, message, findings):
            cluster.capabilities_json = asdict(capabilities)
            cluster.save(update_fields=["capabilities_json"])
            store.store(cluster, nodes)


def tell(cluster: Cluster, waiting: tuple[Finding, ...]) -> bool:
    """Findings about what workloads wait for, in place of those before; whether they differ. The
    state of a cluster that was not heard stays what it is."""
    with transaction.atomic():
        row = Cluster.objects.select_for_update().get(pk=cluster.pk)
        others = tuple(finding for finding in row.findings if finding.area != WORKLOADS)
        if row.findings == others + waiting:
            return False
        row.findings_json = [asdict(finding) for finding in others + waiting]
        if row.state in (State.CONNECTED, State.ISSUES):
            row.state, row.state_message = health.verdict(row.findings)
        row.save(update_fields=["findings_json", "state", "state_message"])
    cluster.findings_json = row.findings_json
    cluster.state, cluster.state_message = row.state, row.state_message
    return True


def _kept(cluster: Cluster, engine: Engine, queues: Wanted | None) -> tuple[Finding, ...]:
    """How keeping the queues went; where nobody says what they should be, how it went before.

    A failure is one of the scheduler's, such as its webhook: the cluster itself did answer.
    """
    if queues is None:
        return tuple(finding for finding in cluster.findings if finding.area == QUOTAS)
    try:
        engine.keep_queues(queues)
    except EngineError as error:
        text = f"They do not match the projects' quotas: {error} Workloads may have to wait."
        return (Finding(QUOTAS, "KAI queues", Level.ISSUE, text),)
    return (Finding(QUOTAS, "KAI queues", Level.OK, "In line with the quotas of the projects"),)
