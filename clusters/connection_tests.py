"""Connection tests: a worker checks the cluster, and the page shows its findings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from audit import services as audit
from clusters import services
from clusters.kinds.base import ClusterKind, ConnectionSecret
from clusters.models import Cluster, Connection, ConnectionTest
from core.broker import enqueue
from engines.base import EngineError
from engines.findings import CONNECTION, PERMISSIONS, SIGNED_IN, Finding, Level

LIFETIME = timedelta(hours=1)
LATE_AFTER = timedelta(seconds=60)  # until the page says that no worker has taken it up


def request_test(
    *,
    by: User,
    cluster: Cluster | None = None,
    kind: ClusterKind | None = None,
    secret: ConnectionSecret | None = None,
    settings: Mapping[str, Any] | None = None,
    values: Mapping[str, Any] | None = None,
) -> ConnectionTest:
    """Have a worker test a connection, saved or not. Without a ``secret``, the saved one of
    ``cluster`` is used, with these ``settings`` if there are any.

    The worker gets only the id of the test. The secret stays in the database, encrypted.
    """
    test = _new_test(by, cluster, kind, secret)
    test.settings_json = dict(settings or {})
    test.values_json = dict(values or {})
    with transaction.atomic():
        test.save()
        audit.record(by, "create", test)
    enqueue.send("clusters.test_connection", test.pk, enqueue.SUBMIT)
    return test


def store_secret(
    *, by: User, cluster: Cluster | None, kind: ClusterKind, secret: ConnectionSecret
) -> ConnectionTest:
    """Store the secret of a form that is shown again, because the page must not contain the
    secret."""
    test = _new_test(by, cluster, kind, secret)
    test.answered_at = timezone.now()
    test.save()
    return test


def _new_test(
    by: User, cluster: Cluster | None, kind: ClusterKind | None, secret: ConnectionSecret | None
) -> ConnectionTest:
    prune()
    slug = kind.slug if kind else ""
    if cluster:
        slug = cluster.kind
    text = secret.model_dump_json() if secret else ""
    return ConnectionTest(cluster=cluster, asked_by=by, kind=slug, secret_json=text)


def run(test: ConnectionTest) -> None:
    """Run the test and store its findings, and the new state of a cluster that exists."""
    if test.secret_json or _is_changed(test):
        findings = _check_connection(test)
    elif test.cluster:
        test.cluster.definition.end_pause(test.cluster)
        services.refresh(test.cluster)
        cluster = test.cluster
        findings = cluster.findings or _findings_without_answer(
            cluster.definition, cluster.state_message
        )
    else:
        findings = ()
    test.findings_json = [asdict(finding) for finding in findings]
    test.answered_at = timezone.now()
    test.save(update_fields=["findings_json", "answered_at"])


def _is_changed(test: ConnectionTest) -> bool:
    """Whether a test has other settings of the connection than its cluster."""
    if test.cluster is None:
        return False
    stored = services.stored_settings(test.cluster)
    tested = {**stored, **test.settings_json}
    keys = test.cluster.definition.connection_settings
    # All values of a form are texts, so texts are compared.
    return any(str(tested[key]) != str(stored[key]) for key in keys)


def _check_connection(test: ConnectionTest) -> tuple[Finding, ...]:
    """Check a connection without saving anything. A test without a secret uses that of its
    cluster."""
    trial = Cluster(name="test", kind=test.kind, settings_json=test.settings_json)
    if test.secret_json:
        trial.connection = Connection(cluster=trial, secret_json=test.secret_json)
    elif test.cluster:
        trial.pk = test.cluster.pk  # finds the saved secret
    trial.definition.end_pause(trial)
    try:
        return trial.definition.connect(trial).check()
    except EngineError as error:
        return _findings_without_answer(trial.definition, str(error))


def _findings_without_answer(kind: ClusterKind, message: str) -> tuple[Finding, ...]:
    return (Finding(CONNECTION, kind.server, Level.ISSUE, message),)


def is_late(test: ConnectionTest) -> bool:
    """Whether a test has waited so long that perhaps no worker is running."""
    return test.answered_at is None and timezone.now() - test.created_at > LATE_AFTER


def rights_to_apply(kind: ClusterKind, findings: Sequence[Finding]) -> str:
    """Return the manifest of all permissions that Trainyard needs, as YAML; empty if none of them
    is missing."""
    permissions = [finding for finding in findings if finding.area == PERMISSIONS]
    is_granted = all(finding.level is Level.OK for finding in permissions)
    if is_granted or kind.rights is None:
        return ""
    return kind.rights.manifest(signed_in_user(findings))


def signed_in_user(findings: Iterable[Finding]) -> str:
    """Return Trainyard's user name on the cluster; empty if it is unknown."""
    names = (finding.text for finding in findings if finding.name == SIGNED_IN)
    return next(names, "")


def prune() -> None:
    """Delete old tests, and with them secrets that were never saved."""
    ConnectionTest.objects.filter(created_at__lt=timezone.now() - LIFETIME).delete()
