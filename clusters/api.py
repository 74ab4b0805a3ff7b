"""REST: the clusters that the caller may see."""

from datetime import datetime
from uuid import UUID

from ninja import Router

from accounts.api import ApiRequest
from clusters.models import Cluster
from core.api import Wire, not_found

router = Router(tags=["Clusters"])


class ClusterState(Wire):
    state: str
    message: str


class ClusterOut(Wire):
    uuid: UUID
    name: str
    kind: str
    status: ClusterState
    created_at: datetime

    @classmethod
    def of(cls, cluster: Cluster) -> "ClusterOut":
        return cls(
            uuid=cluster.pk,
            name=cluster.name,
            kind=cluster.kind,
            status=ClusterState(state=cluster.state, message=cluster.state_message),
            created_at=cluster.created_at,
        )


@router.get("/clusters", response=list[ClusterOut], by_alias=True)
def list_clusters(request: ApiRequest) -> list[ClusterOut]:
    return [ClusterOut.of(cluster) for cluster in Cluster.objects.visible_to(request.user)]


@router.get("/clusters/{cluster_id}", response=ClusterOut, by_alias=True)
def get_cluster(request: ApiRequest, cluster_id: UUID) -> ClusterOut:
    cluster = Cluster.objects.visible_to(request.user).filter(pk=cluster_id).first()
    if cluster is None:
        raise not_found("The cluster")
    return ClusterOut.of(cluster)
