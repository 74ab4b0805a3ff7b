"""Add, change and delete clusters, and check what they offer."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import access, rules
from accounts.models import User
from audit import services as audit
from clusters import health, refusals
from clusters.connections import engine_for
from clusters.kinds.base import ClusterKind, ConnectionSecret
from clusters.kinds.local import LOCAL
from clusters.models import Cluster, Connection, State
from clusters.nodes import store
from core.deletion import Dependents, guard_deletion
from core.rest.validation import run_rules
from engines.base import Engine, EngineError, EngineRefused, EngineUnavailable
from engines.findings import Finding, Level, refusal_of
from engines.queues import Wanted

QUOTAS = "Quotas"  # area of findings about queues
WORKLOADS = "Workloads"  # area of findings about what workloads wait for; reported by workloads
#: Updated by a check.
CHECK_COLUMNS = ("state", "state_message", "findings_json", "checked_at", "answered_at")


def ensure_local() -> Cluster:
    """The cluster of this machine, created on first use."""
    return Cluster.objects.get_or_create(kind=LOCAL.slug, defaults={"name": LOCAL.slug})[0]


def add_after_check(
    kind: ClusterKind, *, name: str, settings: Mapping[str, Any], secret: ConnectionSecret
) -> Cluster:
    """Add a cluster once it has answered.

    ``ValidationError`` names the fields that are wrong; ``EngineError`` has the message of the
    cluster. In both cases nothing is saved.
    """
    with transaction.atomic():
        cluster = _create_cluster(kind, name, settings, secret)
        audit.record(None, "create", cluster, after=_facts(cluster))
        _check(cluster)
        if cluster.refusal:
            raise EngineRefused(cluster.refusal)
    return cluster


def create(
    kind: ClusterKind,
    *,
    by: User,
    name: str,
    settings: Mapping[str, Any],
    secret: ConnectionSecret,
) -> Cluster:
    """Add a cluster that waits to be connected, and have a worker check it at once.

    ``ValidationError`` names the fields that are wrong.
    """
    access.require(by, "clusters.create")
    with _translate_taken_name():
        cluster = _create_cluster(kind, name, settings, secret)
        refusals.refuse_tested_connection(cluster, secret)
        audit.record(by, "create", cluster, after=_facts(cluster))
        health.request_check(cluster)
    return cluster


def _create_cluster(
    kind: ClusterKind, name: str, settings: Mapping[str, Any], secret: ConnectionSecret
) -> Cluster:
    cluster = Cluster(kind=kind.slug)
    set_and_validate(cluster, name=name, settings=settings)
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
    """Change name, settings or secret; values that are ``None`` stay. If the connection changes,
    the results of the old one are discarded, and a worker checks the new one. ``ValidationError``
    names the fields that are wrong."""
    access.require(by, "clusters.update", *cluster.scope_keys)
    with _translate_taken_name():
        # The row is locked, so that concurrent changes get different versions, and no project is
        # added in the meantime.
        cluster.refresh_from_db(from_queryset=Cluster.objects.select_for_update())
        facts_before = _facts(cluster)
        settings_before = stored_settings(cluster)
        name = cluster.name if name is None else name
        set_and_validate(cluster, name=name, settings=settings or {})
        columns = ["name", "settings_json"]
        changed = {
            key for key, value in cluster.settings_json.items() if value != settings_before.get(key)
        }
        if secret is not None or changed & cluster.definition.connection_settings:
            cluster.connection_version += 1
            cluster.state = State.WAITING
            cluster.state_message = ""
            cluster.findings_json = []
            cluster.checked_at = None
            columns += ["connection_version", *CHECK_COLUMNS]
            health.request_check(cluster)
        if secret is not None or cluster.definition.exclusive_setting in changed:
            refusals.refuse_tested_connection(cluster, secret)
        if secret is not None:
            _replace_secret(cluster, secret)
        cluster.save(update_fields=columns)
        audit.record(by, "update", cluster, before=facts_before, after=_facts(cluster))
    return cluster


def stored_settings(cluster: Cluster) -> dict[str, Any]:
    """Return the settings as they are stored, even if they are not valid, so that an administrator
    can correct them. Missing ones have their defaults."""
    defaults = cluster.definition.settings().model_dump()
    return {key: cluster.settings_json.get(key, value) for key, value in defaults.items()}


def set_and_validate(cluster: Cluster, *, name: str, settings: Mapping[str, Any]) -> None:
    """Set name and settings on the object, and validate it, without saving. ``ValidationError``
    names all fields that are wrong."""
    kind = cluster.definition
    before = stored_settings(cluster)
    fault = cluster.settings_fault
    settings = {**before, **settings}
    cluster.name = name

    def take_settings() -> None:
        cluster.settings_json = kind.validate_settings(settings).model_dump()

    def keep_what_projects_need() -> None:
        changed = [key for key in kind.fixed_settings if settings[key] != before[key]]
        is_free = cluster._state.adding or fault or refusals.is_unused(cluster)
        if changed and not is_free and cluster.projects.exists():
            raise ValidationError({key: kind.fixed_settings[key] for key in changed})

    run_rules(take_settings, keep_what_projects_need, cluster.full_clean)


@contextmanager
def _translate_taken_name() -> Iterator[None]:
    """Open a transaction. If another administrator has just taken the name, it raises the usual
    ``ValidationError``."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        taken = Cluster().unique_error_message(Cluster, ("name",))
        raise ValidationError({"name": taken}) from error


def _replace_secret(cluster: Cluster, secret: ConnectionSecret) -> None:
    """Replace the secret without reading the old one, which cannot be decrypted if ``SECRET_KEY``
    has changed."""
    text = secret.model_dump_json()
    connections = Connection.objects.filter(cluster=cluster)
    if not connections.update(secret_json=text):
        Connection.objects.create(cluster=cluster, secret_json=text)


def _facts(cluster: Cluster) -> dict[str, Any]:
    """Return the values for the audit log. A new secret only shows in the version."""
    columns = {"name": cluster.name, "kind": cluster.kind, "version": cluster.connection_version}
    return {**columns, **cluster.settings_json}


def delete_cluster(cluster: Cluster, *, by: User) -> None:
    """Delete a cluster with its nodes and node pools. ``InUse`` if it has projects."""
    access.require(by, "clusters.delete", *cluster.scope_keys)
    key = access.scope_key("cluster", cluster.pk)
    with guard_deletion(cluster, lambda: obstacle_to_delete(cluster, by)):
        audit.record(by, "delete", cluster, before=_facts(cluster))
        departments = list(cluster.departments.values_list("pk", flat=True))
        cluster.delete()
        rules.remove_rules_of_scopes(
            key, *(access.scope_key("department", pk) for pk in departments)
        )


def obstacle_to_delete(cluster: Cluster, by: User) -> str:
    """Return why ``by`` cannot delete the cluster now, in words; empty if they can."""
    if cluster.definition.why_permanent:
        return cluster.definition.why_permanent
    projects = Dependents.visible_among(cluster.projects.all(), by)
    return projects.refusal(f"{cluster} has projects:", "Delete them first.")


def refresh(cluster: Cluster, queues: Wanted | None = None) -> bool:
    """Check the cluster and store the results. Returns ``False`` if it cannot be watched.

    ``queues`` are applied if the cluster itself enforces quotas.
    """
    try:
        _check(cluster, queues)
    except EngineUnavailable as error:
        _store_result(
            cluster, *health.disconnected(error), refusals.remaining_refusals(cluster, str(error))
        )
        return False
    except EngineRefused as error:
        still = refusals.remaining_refusals(cluster, str(error))
        _store_result(cluster, State.MISSING, str(error), still)
        return False
    return True


def _store_result(
    cluster: Cluster, state: State, message: str, findings: tuple[Finding, ...] = ()
) -> bool:
    """Store the state and the findings of a check. Returns whether they were stored."""
    cluster.state = state
    cluster.state_message = message
    cluster.findings_json = [asdict(finding) for finding in findings]
    cluster.checked_at = timezone.now()
    if state is not State.DISCONNECTED:
        cluster.answered_at = cluster.checked_at
    # Other columns are not written, because an administrator may have changed them meanwhile. If
    # the connection changed, its version did, too: then this result is of the old one and is
    # dropped.
    rows = Cluster.objects.filter(pk=cluster.pk, connection_version=cluster.connection_version)
    return bool(rows.update(**{name: getattr(cluster, name) for name in CHECK_COLUMNS}))


def _check(cluster: Cluster, queues: Wanted | None = None) -> None:
    """Check a cluster and store what it offers and lacks. ``EngineError`` if it does not answer, or
    refuses without a finding that says why."""
    # All network calls come before the transaction, which must not wait for a cluster.
    engine = engine_for(cluster)
    findings = engine.check()
    state, message = health.state_of(findings)
    try:
        capabilities = engine.capabilities()
        nodes = engine.nodes()
    except EngineRefused:
        if state is not State.MISSING:
            raise
        # Missing permissions explain the refusal, so the findings are stored.
        _store_result(cluster, state, message, findings)
        return
    if capabilities.quotas and not refusal_of(findings):
        findings += _apply_queues(cluster, engine, queues)
    findings += tuple(finding for finding in cluster.findings if finding.area == WORKLOADS)
    state, message = health.state_of(findings)
    with transaction.atomic():
        if _store_result(cluster, state, message, findings):
            cluster.capabilities_json = asdict(capabilities)
            cluster.save(update_fields=["capabilities_json"])
            store.store(cluster, nodes)


def store_waiting_findings(cluster: Cluster, waiting: tuple[Finding, ...]) -> bool:
    """Replace the findings about objects that workloads wait for. Returns whether they differ from
    the stored ones. The state only changes if the cluster is connected; nothing happens if it was
    deleted."""
    with transaction.atomic():
        row = Cluster.objects.select_for_update().filter(pk=cluster.pk).first()
        if row is None:
            return False
        others = tuple(finding for finding in row.findings if finding.area != WORKLOADS)
        if row.findings == others + waiting:
            return False
        row.findings_json = [asdict(finding) for finding in others + waiting]
        if row.state in (State.CONNECTED, State.ISSUES):
            row.state, row.state_message = health.state_of(row.findings)
        row.save(update_fields=["findings_json", "state", "state_message"])
    cluster.findings_json = row.findings_json
    cluster.state = row.state
    cluster.state_message = row.state_message
    return True


def _apply_queues(cluster: Cluster, engine: Engine, queues: Wanted | None) -> tuple[Finding, ...]:
    """Apply the queues and return the finding about that; without ``queues``, the earlier findings.

    A failure is reported as a finding: it comes from the scheduler, such as its webhook, whereas
    the cluster itself has answered."""
    if queues is None:
        return tuple(finding for finding in cluster.findings if finding.area == QUOTAS)
    try:
        engine.keep_queues(queues)
    except EngineError as error:
        why = str(error).rstrip(".")
        text = f"They do not match the projects' quotas: {why}. Workloads may have to wait."
        return (Finding(QUOTAS, "KAI queues", Level.ISSUE, text),)
    return (Finding(QUOTAS, "KAI queues", Level.OK, "In line with the quotas of the projects"),)
