"""REST: clusters. Whoever works on one may read it; the rest is for administrators."""

from uuid import UUID

from ninja import Router, Status

from accounts.api import ApiRequest
from clusters import services, testing
from clusters.models import Cluster, ConnectionTest, Kind
from clusters.schemas import (
    REFUSED,
    ClusterChange,
    ClusterIn,
    ClusterOut,
    TestIn,
    TestOut,
    form_of,
)
from core.api import ApiError, judged, not_found

router = Router(tags=["Clusters"])


@router.get("/clusters", response=list[ClusterOut], by_alias=True)
def list_clusters(request: ApiRequest) -> list[ClusterOut]:
    """The clusters that hold one of the caller's projects; administrators see all."""
    seen = Cluster.objects.visible_to(request.user)
    return [ClusterOut.of(cluster, request.user) for cluster in seen]


@router.post("/clusters", response={201: ClusterOut}, by_alias=True)
def create_cluster(request: ApiRequest, body: ClusterIn) -> Status[ClusterOut]:
    """Add a Kubernetes cluster. It waits to connect: a worker looks at it within seconds.

    The kubeconfig is kept encrypted and is never given back. Where it names programs or files of
    Trainyard's machine, 400 says which, until ``trusted`` is true.
    """
    with judged(REFUSED):
        services.check(request.user)
        form = form_of(body)
        cluster = services.create_kubernetes(
            by=request.user, kubeconfig=form.connection() or "", **form.values()
        )
    return Status(201, ClusterOut.of(cluster, request.user))


@router.get("/clusters/{cluster_id}", response=ClusterOut, by_alias=True)
def get_cluster(request: ApiRequest, cluster_id: UUID) -> ClusterOut:
    """One cluster. Its settings are told to administrators alone."""
    return ClusterOut.of(cluster_of(request, cluster_id), request.user)


@router.put("/clusters/{cluster_id}", response=ClusterOut, by_alias=True)
def update_cluster(request: ApiRequest, cluster_id: UUID, body: ClusterChange) -> ClusterOut:
    """Change what is given: the name, the settings, the namespace prefix while there are no
    projects, or the connection. A worker looks at it anew where that changes how it is reached."""
    cluster = cluster_of(request, cluster_id)
    with judged(REFUSED):
        services.check(request.user)
        if cluster.kind != Kind.KUBERNETES:
            raise ApiError(409, "This machine is a cluster without settings.")
        form = form_of(body, cluster)
        given = {k: v for k, v in form.values().items() if k in body.model_fields_set}
        services.update_kubernetes(cluster, by=request.user, kubeconfig=form.connection(), **given)
    return ClusterOut.of(cluster, request.user)


@router.delete("/clusters/{cluster_id}", response={204: None})
def delete_cluster(request: ApiRequest, cluster_id: UUID) -> Status[None]:
    """Forget a cluster with its node pools; nothing is removed from it. 409 while it has
    projects."""
    cluster = cluster_of(request, cluster_id)
    with judged(REFUSED, services.HasProjects):
        services.delete_cluster(cluster, by=request.user)
    return Status(204, None)


@router.post("/cluster-tests", response={202: TestOut}, by_alias=True)
def test_connection(request: ApiRequest, body: TestIn) -> Status[TestOut]:
    """Have a worker look at what a cluster lacks. Read the answer from ``/cluster-tests/{id}``.

    Give ``clusterId`` to test a cluster as it is kept, or a connection to try before it is kept.
    What is tried is kept encrypted, for an hour.
    """
    with judged(REFUSED):
        services.check(request.user)
    cluster = cluster_of(request, body.cluster_id) if body.cluster_id else None
    kubeconfig = form_of(body, cluster).connection()
    test = testing.ask(by=request.user, cluster=cluster, kubeconfig=kubeconfig)
    return Status(202, TestOut.of(test))


@router.get("/cluster-tests/{test_id}", response=TestOut, by_alias=True)
def get_test(request: ApiRequest, test_id: UUID) -> TestOut:
    """What one of the caller's own tests found: right by right and part by part what is there and
    what lacks."""
    with judged(REFUSED):
        services.check(request.user)
    mine = ConnectionTest.objects.filter(asked_by=request.user).defer("kubeconfig")
    test = mine.filter(pk=test_id).first()
    if test is None:
        raise not_found("The test")
    return TestOut.of(test)


def cluster_of(request: ApiRequest, cluster_id: UUID) -> Cluster:
    cluster = Cluster.objects.visible_to(request.user).filter(pk=cluster_id).first()
    if cluster is None:
        raise not_found("The cluster")
    return cluster
