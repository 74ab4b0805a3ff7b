"""Refuse to save a connection that the cluster is known to refuse, and decide what is allowed with
a refused one."""

from contextlib import suppress

from django.core.exceptions import ValidationError
from django.db.models import Q, TextField
from django.db.models.functions import Cast

from clusters.kinds.base import ConnectionSecret
from clusters.models import Cluster, Connection, ConnectionTest
from core.database.fields import Unreadable, decrypt
from engines.findings import CONNECTION, Finding, Level, refusal_of
from spec.phases import MAYBE_ON_CLUSTER

MOST_TESTS = 50  # tests whose secrets are compared, the newest first


def refuse_tested_connection(cluster: Cluster, secret: ConnectionSecret | None) -> None:
    """Raise ``ValidationError`` if exactly this connection was refused when it was last tested.
    ``secret=None`` means the stored secret; so does a test of this cluster without a secret."""
    key = cluster.definition.exclusive_setting
    if not key:
        return
    stored = _stored_secret(cluster)
    wanted = stored if secret is None else secret
    connection = {"kind": cluster.kind, f"settings_json__{key}": cluster.settings_json[key]}
    tests = ConnectionTest.objects.filter(**connection, answered_at__isnull=False).filter(
        Q(cluster=cluster) | ~Q(secret_json="")
    )
    parse_secret = cluster.definition.secret.model_validate_json
    # The encrypted text is read without decrypting, so that a test whose key is lost can be
    # skipped.
    rows = tests.annotate(token=Cast("secret_json", TextField())).order_by("-created_at")
    for test in rows.defer("secret_json")[:MOST_TESTS]:
        with suppress(Unreadable):  # since SECRET_KEY changed
            tested = parse_secret(decrypt(test.token)) if test.token else stored
            if tested is not None and tested == wanted:
                refusal = refusal_of(test.findings)
                if refusal:
                    raise ValidationError({key: refusal})
                return


def _stored_secret(cluster: Cluster) -> ConnectionSecret | None:
    """Return the saved secret; ``None`` if there is none that can be read."""
    with suppress(Unreadable):
        connection = Connection.objects.filter(cluster=cluster).first()
        if connection:
            return cluster.definition.secret.of(connection)
    return None


def is_unused(cluster: Cluster) -> bool:
    """Whether the cluster is refused and none of Trainyard's workloads can be on it."""
    # The refusal alone is no proof: it may be older than a release of the prefix, after which
    # workloads may have started.
    workloads = cluster.workloads.filter(phase__in=MAYBE_ON_CLUSTER, deleted_at=None)
    return bool(cluster.refusal) and not workloads.exists()


def remaining_refusals(cluster: Cluster, message: str) -> tuple[Finding, ...]:
    """Return the findings while the cluster cannot be checked, for the reason in ``message``. A
    refusal stays until the cluster says otherwise."""
    refusals = [finding for finding in cluster.findings if finding.level is Level.REFUSED]
    unanswered = Finding(CONNECTION, cluster.definition.server, Level.ISSUE, message)
    return (unanswered, *refusals) if refusals else ()
