"""Keep a connection from being saved that is known to be refused, and what a refusal allows."""

from contextlib import suppress

from django.core.exceptions import ValidationError
from django.db.models import Q, TextField
from django.db.models.functions import Cast

from clusters.kinds.base import ConnectionSecret
from clusters.models import Cluster, Connection, ConnectionTest
from core.database.fields import Unreadable, decrypt
from engines.findings import CONNECTION, Finding, Level, refusal_of
from spec.phases import MAY_BE_THERE

MOST_TESTS = 50  # whose secrets are compared: those of an hour, the newest first


def refuse_tested_connection(cluster: Cluster, secret: ConnectionSecret | None) -> None:
    """``ValidationError`` if this very connection was refused when it was last tested.
    ``secret=None`` is the stored one, and so is that of a test of this cluster without any."""
    key = cluster.definition.exclusive_setting
    if not key:
        return
    stored = _stored_secret(cluster)
    wanted = stored if secret is None else secret
    same = {"kind": cluster.kind, f"settings_json__{key}": cluster.settings_json[key]}
    tests = ConnectionTest.objects.filter(**same, answered_at__isnull=False).filter(
        Q(cluster=cluster) | ~Q(secret_json="")
    )
    read = cluster.definition.secret.model_validate_json
    rows = tests.annotate(token=Cast("secret_json", TextField())).order_by("-created_at")
    for test in rows.defer("secret_json")[:MOST_TESTS]:
        with suppress(Unreadable):  # since SECRET_KEY changed
            tested = read(decrypt(test.token)) if test.token else stored
            if tested is not None and tested == wanted:
                if refusal := refusal_of(test.findings):
                    raise ValidationError({key: refusal})
                return


def _stored_secret(cluster: Cluster) -> ConnectionSecret | None:
    """The saved secret; ``None`` if there is none that can be read."""
    with suppress(Unreadable):
        if connection := Connection.objects.filter(cluster=cluster).first():
            return cluster.definition.secret.of(connection)
    return None


def is_unused(cluster: Cluster) -> bool:
    """Whether a refused cluster has nothing of ours. The last check may be older than a release of
    the prefix, since which workloads may have started."""
    there = cluster.workloads.filter(phase__in=MAY_BE_THERE, deleted_at=None)
    return bool(cluster.refusal) and not there.exists()


def remaining_refusals(cluster: Cluster, message: str) -> tuple[Finding, ...]:
    """Findings while the cluster cannot be checked, for the reason in ``message``: a refusal holds
    until the cluster says otherwise."""
    refused = [finding for finding in cluster.findings if finding.level is Level.REFUSED]
    now = Finding(CONNECTION, cluster.definition.server, Level.ISSUE, message)
    return (now, *refused) if refused else ()
