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
    """Test a connection before it is saved. Without a ``secret`` it is the one of ``cluster``, with
    these ``settings`` if there are any.

    Only the id of the test goes to the worker: the secret stays in the database, encrypted.
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
    """Store a secret from a form that has to be shown again, because the page must not
    contain it."""
    test = _new_test(by, cluster, kind, secret)
    test.answered_at = timezone.now()
    test.save()
    return test


def _new_test(
    by: User, cluster: Cluster | None, kind: ClusterKind | None, secret: ConnectionSecret | None
) -> ConnectionTest:
    prune()
    slug = cluster.kind if cluster else kind.slug if kind else ""
    text = secret.model_dump_json() if secret else ""
    return ConnectionTest(cluster=cluster, asked_by=by, kind=slug, secret_json=text)


def run(test: ConnectionTest) -> None:
    """Run the test and store its findings, and the new state of a cluster that exists."""
    if test.secret_json or _is_changed(test):
        findings = _check_connection(test)
    elif test.cluster:
        test.cluster.definition.end_pause(test.cluster)
        services.refresh(test.cluster)
        kept = test.cluster
        findings = kept.findings or _findings_without_answer(kept.definition, kept.state_message)
    else:
        findings = ()
    test.findings_json = [asdict(finding) for finding in findings]
    test.answered_at = timezone.now()
    test.save(update_fields=["findings_json", "answered_at"])


def _is_changed(test: ConnectionTest) -> bool:
    """Whether it is of other settings than the cluster has, as far as they concern the
    connection."""
    if test.cluster is None:
        return False
    kept = services.stored_settings(test.cluster)
    reached_by = test.cluster.definition.connection_settings
    given = {**kept, **test.settings_json}  # of a form: all texts
    return any(str(given[key]) != str(kept[key]) for key in reached_by)


def _check_connection(test: ConnectionTest) -> tuple[Finding, ...]:
    """Look without saving anything. A test without a secret takes the cluster's own."""
    trial = Cluster(name="test", kind=test.kind, settings_json=test.settings_json)
    if test.secret_json:
        trial.connection = Connection(cluster=trial, secret_json=test.secret_json)
    elif test.cluster:
        trial.pk = test.cluster.pk  # by which its secret is found
    trial.definition.end_pause(trial)
    try:
        return trial.definition.connect(trial).check()
    except EngineError as error:
        return _findings_without_answer(trial.definition, str(error))


def _findings_without_answer(kind: ClusterKind, message: str) -> tuple[Finding, ...]:
    return (Finding(CONNECTION, kind.server, Level.ISSUE, message),)


def is_late(test: ConnectionTest) -> bool:
    """Whether no worker has taken it up for so long that perhaps none is running."""
    return test.answered_at is None and timezone.now() - test.created_at > LATE_AFTER


def rights_to_apply(kind: ClusterKind, findings: Sequence[Finding]) -> str:
    """The manifest of all permissions that Trainyard needs, as YAML, if one of them is missing."""
    granted = all(it.level is Level.OK for it in findings if it.area == PERMISSIONS)
    return "" if granted or kind.rights is None else kind.rights.manifest(signed_in_user(findings))


def signed_in_user(findings: Iterable[Finding]) -> str:
    """Trainyard's user name on the cluster; empty if unknown."""
    return next((it.text for it in findings if it.name == SIGNED_IN), "")


def prune() -> None:
    """Delete old tests, together with secrets that were never saved."""
    ConnectionTest.objects.filter(created_at__lt=timezone.now() - LIFETIME).delete()
