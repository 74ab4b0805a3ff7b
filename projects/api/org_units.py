"""What projects and departments share in REST. Run:ai calls both organizational units."""

from collections.abc import Mapping
from uuid import UUID

from clusters.models import Cluster, ClusterQuerySet
from core.rest.api import Issue, refusal_error
from core.rest.filters import DATE, ID, NUMBER, TEXT, Fields

NOT_SUPPORTED = "is not supported here; leave it out"
FIELDS: Fields = {
    "id": ("pk", NUMBER),
    "name": ("name", TEXT),
    "clusterId": ("cluster_id", ID),
    "totalGpuQuota": ("total_gpu_quota", NUMBER),
    "createdAt": ("created_at", DATE),
    "updatedAt": ("updated_at", DATE),
}


def unsupported_field_issues(fields: Mapping[str, object]) -> list[Issue]:
    """Return an issue for each of these fields of Run:ai that is set. They have no counterpart
    here."""
    return [Issue(field=name, details=NOT_SUPPORTED) for name, value in fields.items() if value]


def raise_issues(refusal: str, issues: list[Issue]) -> None:
    if issues:
        raise refusal_error(refusal, issues)


def find_cluster(rows: ClusterQuerySet, pk: UUID, refusal: str) -> Cluster:
    """Return the cluster that a new unit names. Raises ``ApiError`` 400 if ``rows`` lack it."""
    cluster = rows.filter(pk=pk).first()
    if cluster is None:
        raise refusal_error(refusal, [Issue(field="clusterId", details="Cluster not found.")])
    return cluster
