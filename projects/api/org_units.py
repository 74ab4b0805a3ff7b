"""What the REST of projects and of departments has in common: Run:ai's organizational units."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from clusters.models import Cluster, ClusterQuerySet
from core.rest.api import Issue, refusal_error
from core.rest.filters import DATE, ID, NUMBER, TEXT, Fields
from projects.api.resources import OrgResources

NOT_SUPPORTED = "is not supported here; leave it out"
FIELDS: Fields = {
    "id": ("pk", NUMBER),
    "name": ("name", TEXT),
    "clusterId": ("cluster_id", ID),
    "totalGpuQuota": ("gpu_quota", NUMBER),
    "createdAt": ("created_at", DATE),
    "updatedAt": ("updated_at", DATE),
}


def unsupported_field_issues(fields: Mapping[str, object]) -> list[Issue]:
    """The fields that are set, of those of Run:ai that have no counterpart here."""
    return [Issue(field=name, details=NOT_SUPPORTED) for name, value in fields.items() if value]


def unsupported_resource_issues(
    resources: Iterable[OrgResources], *, over_quota: bool | None
) -> list[Issue]:
    """What they say that Trainyard cannot keep."""
    return [issue for one in resources for issue in one.unsupported_issues(over_quota=over_quota)]


def raise_issues(refusal: str, wrong: list[Issue]) -> None:
    if wrong:
        raise refusal_error(refusal, wrong)


def find_cluster(rows: ClusterQuerySet, pk: UUID, refusal: str) -> Cluster:
    """The cluster that a new unit names. ``ApiError`` 400 if ``rows`` do not have it."""
    cluster = rows.filter(pk=pk).first()
    if cluster is None:
        raise refusal_error(refusal, [Issue(field="clusterId", details="Cluster not found.")])
    return cluster
