"""Test connection: a worker looks at what a cluster lacks, and the page shows what it found."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.models import User
from clusters import services
from clusters.engines import ENGINES
from clusters.models import Cluster, Connection, ConnectionTest, Kind
from core import outbox
from engines.base import EngineError, Finding, Level
from engines.kubernetes import rights
from engines.kubernetes.checking import CONNECTION

KEPT = timedelta(hours=1)
PATIENCE = timedelta(seconds=60)  # until the page says that no worker took it up


def ask(
    *,
    by: User,
    cluster: Cluster | None = None,
    kubeconfig: str | None = None,
    values: dict[str, Any] | None = None,
) -> ConnectionTest:
    """Test a connection that is not kept yet, or, without a ``kubeconfig``, that of ``cluster``.

    An empty ``kubeconfig`` is the service account of Trainyard's own pod. Only the id of the test
    goes to the worker: the kubeconfig stays in the database, encrypted.
    """
    prune()
    test = ConnectionTest.objects.create(
        cluster=cluster,
        asked_by=by,
        kubeconfig=kubeconfig or "",
        in_cluster=kubeconfig == "",
        values_json=values or {},
    )
    outbox.send("clusters.test_connection", test.pk, outbox.SUBMIT)
    return test


def keep(*, by: User, cluster: Cluster | None, kubeconfig: str) -> ConnectionTest:
    """Hold what was given with a form that has to be seen again, for the page must not show it."""
    prune()
    return ConnectionTest.objects.create(
        cluster=cluster, asked_by=by, kubeconfig=kubeconfig, answered_at=timezone.now()
    )


def run(test: ConnectionTest) -> None:
    """Look, and write down what was found. Of a cluster that is kept, its state too."""
    if test.kubeconfig or test.in_cluster:
        found = _look(test)
    elif test.cluster:
        services.refresh(test.cluster)
        found = test.cluster.findings or _away(test.cluster.state_message)
    else:
        found = ()
    test.findings_json = [asdict(finding) for finding in found]
    test.answered_at = timezone.now()
    test.save(update_fields=["findings_json", "answered_at"])


def _look(test: ConnectionTest) -> tuple[Finding, ...]:
    trial = Cluster(name="test", kind=Kind.KUBERNETES)
    trial.connection = Connection(cluster=trial, kubeconfig=test.kubeconfig)
    try:
        return ENGINES[Kind.KUBERNETES](trial).check()
    except EngineError as error:
        return _away(str(error))


def _away(message: str) -> tuple[Finding, ...]:
    return (Finding(CONNECTION, "API server", Level.ISSUE, message),)


def is_late(test: ConnectionTest) -> bool:
    """No worker took it up, and none may be running."""
    return test.answered_at is None and timezone.now() - test.created_at > PATIENCE


def rights_to_apply(findings: Sequence[Finding]) -> str:
    """The manifest of all rights that Trainyard needs, as YAML, when one of them is refused."""
    if all(found.level is Level.OK for found in findings if found.area == rights.PERMISSIONS):
        return ""
    return rights.manifest(user_of(findings))


def user_of(findings: Iterable[Finding]) -> str:
    """Who Trainyard is on that cluster; empty where that is not known."""
    return next((found.text for found in findings if found.name == rights.SIGNED_IN), "")


def prune() -> None:
    """Forget old tests, and with them the kubeconfigs that nobody kept."""
    ConnectionTest.objects.filter(created_at__lt=timezone.now() - KEPT).delete()
