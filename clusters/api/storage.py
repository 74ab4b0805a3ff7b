"""REST: the storage classes of a cluster, as it told them when a worker looked last."""

from uuid import UUID

from ninja import Query, Router, Schema

from accounts.api.tokens import ApiRequest
from clusters.api.clusters import cluster_of
from core.rest.filters import TEXT, Fields
from core.rest.rows import WholeListing

router = Router(tags=["Clusters"])
FIELDS: Fields = {"storage_class_name": ("storage_class_name", TEXT)}


class StorageClassQuery(WholeListing):
    cluster_id: UUID
    name: str | None = None


class StorageClassOut(Schema):
    """Run:ai has these words with underscores."""

    cluster_id: UUID
    storage_class_name: str


class StorageClassList(Schema):
    items: list[StorageClassOut]


@router.get("/storage-classes", response=StorageClassList)
def list_storage_classes(request: ApiRequest, asked: Query[StorageClassQuery]) -> StorageClassList:
    """What a volume of a workload there can be made of. Empty where the cluster has none."""
    cluster = cluster_of(request, asked.cluster_id)
    names = cluster.capabilities.storage_classes
    items = [
        StorageClassOut(cluster_id=cluster.pk, storage_class_name=name)
        for name in names
        if asked.name in (None, name)
    ]
    return StorageClassList(items=asked.of(items, FIELDS, "storage_class_name"))
