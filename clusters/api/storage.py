"""REST: the storage classes of a cluster, as of its last check."""

from collections.abc import Iterator
from uuid import UUID

from ninja import Field, Query, Router, Schema

from accounts.api.tokens import ApiRequest
from clusters.api.clusters import find_cluster
from clusters.models import Cluster
from core.rest.api import Wire
from core.rest.filters import TEXT, Fields
from core.rest.rows import WholeListing

router = Router(tags=["Clusters"])
FIELDS: Fields = {"storage_class_name": ("storage_class_name", TEXT)}
CAMEL_FIELDS: Fields = {"storageClassName": ("storage_class_name", TEXT)}


class StorageClassQuery(WholeListing):
    cluster_id: UUID = Field(description="Only those of this cluster")
    name: str | None = Field(default=None, description="Only the one with this name")


class StorageClassOut(Schema):
    """Run:ai has these names with underscores."""

    cluster_id: UUID = Field(description="The ID of the cluster")
    storage_class_name: str = Field(description="The name of the storage class")


class StorageClassList(Schema):
    items: list[StorageClassOut] = Field(description="The storage classes")


@router.get("/storage-classes", response=StorageClassList)
def list_storage_classes(request: ApiRequest, query: Query[StorageClassQuery]) -> StorageClassList:
    """Storage classes for volumes of workloads in a cluster. Empty if it has none."""
    cluster = find_cluster(request, query.cluster_id)
    items = [
        StorageClassOut(cluster_id=cluster.pk, storage_class_name=name)
        for name in _class_names(cluster, query)
    ]
    return StorageClassList(items=query.select(items, FIELDS, "storage_class_name"))


class StorageClassTraits(Wire):
    is_default: bool = Field(description="Whether claims that name no class use it")


class StorageClassDetails(Wire):
    cluster_id: UUID = Field(description="The ID of the cluster")
    storage_class_name: str = Field(description="The name of the storage class")
    spec: StorageClassTraits = Field(description="What the cluster reports about it")


class StorageClassDetailsList(Wire):
    items: list[StorageClassDetails] = Field(description="The storage classes")


@router.get(
    "/storage-classes/details",
    response=StorageClassDetailsList,
    by_alias=True,
    operation_id="list_storage_class_details",
    url_name="storage-class-details",
)
def list_details(request: ApiRequest, query: Query[StorageClassQuery]) -> StorageClassDetailsList:
    """Storage classes for volumes of workloads in a cluster, and which of them is the default."""
    cluster = find_cluster(request, query.cluster_id)
    default = cluster.capabilities.default_storage_class
    items = [
        StorageClassDetails(
            cluster_id=cluster.pk,
            storage_class_name=name,
            spec=StorageClassTraits(is_default=name == default),
        )
        for name in _class_names(cluster, query)
    ]
    return StorageClassDetailsList(items=query.select(items, CAMEL_FIELDS, "storage_class_name"))


def _class_names(cluster: Cluster, query: StorageClassQuery) -> Iterator[str]:
    names = cluster.capabilities.storage_classes
    return (name for name in names if query.name in (None, name))
