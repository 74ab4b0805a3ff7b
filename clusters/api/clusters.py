"""REST: clusters. Users may read the clusters of their projects; administrators may do the rest."""

from uuid import UUID

from ninja import Query, Router, Status

from accounts import access
from accounts.api.tokens import ApiRequest
from clusters import connection_tests, services
from clusters.api.schemas import (
    REFUSED,
    ClusterChange,
    ClusterIn,
    ClusterOut,
    TestIn,
    TestOut,
    connection_fields,
    requested_kind,
    requested_secret,
)
from clusters.kinds import KINDS
from clusters.models import Cluster, ConnectionTest, State
from core.rest.api import not_found, translate_errors
from core.rest.filters import (
    DATE,
    ID,
    TEXT,
    Fields,
    Filtered,
    filter_queryset,
    sort_queryset,
    word_choices,
)
from core.rest.rows import OptionalPages, OptionalSort

router = Router(tags=["Clusters"])
FIELDS: Fields = {
    "uuid": ("pk", ID),
    "name": ("name", TEXT),
    "kind": ("kind", word_choices(KINDS)),
    "state": ("state", word_choices(State.values)),
    "createdAt": ("created_at", DATE),
    "checkedAt": ("checked_at", DATE),
}


class ClusterListing(OptionalPages, OptionalSort, Filtered):
    pass


@router.get("/clusters", response=list[ClusterOut], by_alias=True)
def list_clusters(request: ApiRequest, listing: Query[ClusterListing]) -> list[ClusterOut]:
    """The clusters with one of the caller's projects; administrators see all of them."""
    rows = filter_queryset(Cluster.objects.visible_to(request.user), listing.filter_by, FIELDS)
    rows = rows.filter(name__icontains=listing.search) if listing.search else rows
    page = listing.cut(sort_queryset(rows, listing, FIELDS))
    return [ClusterOut.of(cluster, request.user) for cluster in page]


@router.post("/clusters", response={201: ClusterOut}, by_alias=True)
def create_cluster(request: ApiRequest, body: ClusterIn) -> Status[ClusterOut]:
    """Add a cluster, a Kubernetes cluster unless ``kind`` says otherwise. A worker connects to it
    within seconds.

    The kubeconfig is stored encrypted and never returned. If it names programs or files of
    Trainyard's machine, 400 lists them until ``trusted`` is true.
    """
    with translate_errors(REFUSED):
        access.require(request.user, "clusters.create")
        kind = requested_kind(body)
        fields = connection_fields(body, kind)
        secret = requested_secret(fields, Cluster(kind=kind.slug), name=body.name)
        cluster = services.create(
            kind,
            by=request.user,
            name=body.name,
            settings=fields.settings(kind),
            secret=secret or kind.secret(),
        )
    return Status(201, ClusterOut.of(cluster, request.user))


@router.get("/clusters/{cluster_id}", response=ClusterOut, by_alias=True)
def get_cluster(request: ApiRequest, cluster_id: UUID) -> ClusterOut:
    """One cluster. Only administrators get its settings."""
    return ClusterOut.of(find_cluster(request, cluster_id), request.user)


@router.put("/clusters/{cluster_id}", response=ClusterOut, by_alias=True)
def update_cluster(request: ApiRequest, cluster_id: UUID, body: ClusterChange) -> ClusterOut:
    """Change the given fields: the name, the settings, the namespace prefix while there are no
    projects, or the connection. A worker checks the cluster again if its connection changes."""
    cluster = find_cluster(request, cluster_id)
    with translate_errors(REFUSED):
        access.require(request.user, "clusters.update", *cluster.scope_keys)
        kind = requested_kind(body, cluster)
        fields = connection_fields(body, kind)
        name = body.name if "name" in body.model_fields_set else None
        secret = requested_secret(
            fields, cluster, name=cluster.name if name is None else name, editing=True
        )
        services.update(
            cluster, by=request.user, name=name, settings=fields.settings(kind), secret=secret
        )
    return ClusterOut.of(cluster, request.user)


@router.delete("/clusters/{cluster_id}", response={204: None})
def delete_cluster(request: ApiRequest, cluster_id: UUID) -> Status[None]:
    """Remove a cluster from Trainyard with its node pools, departments, assets and webhooks;
    nothing is deleted on it. 409 while it has projects."""
    cluster = find_cluster(request, cluster_id)
    with translate_errors(REFUSED):
        services.delete_cluster(cluster, by=request.user)
    return Status(204, None)


@router.post("/cluster-tests", response={202: TestOut}, by_alias=True)
def test_connection(request: ApiRequest, body: TestIn) -> Status[TestOut]:
    """Have a worker test what a cluster lacks. Read the result from ``/cluster-tests/{id}``.

    Pass ``clusterId`` to test a saved cluster, or a connection to try before you save it. It is
    stored encrypted for an hour.
    """
    with translate_errors(REFUSED):
        access.require(request.user, "clusters.update")
    cluster = find_cluster(request, body.cluster_id) if body.cluster_id else None
    kind = requested_kind(body, cluster)
    if cluster and kind.wire is None:
        return Status(
            202, TestOut.of(connection_tests.request_test(by=request.user, cluster=cluster))
        )
    fields = connection_fields(body, kind)
    stored = services.stored_settings(cluster or Cluster(kind=kind.slug))
    with translate_errors(REFUSED):
        test = connection_tests.request_test(
            by=request.user,
            cluster=cluster,
            kind=kind,
            secret=fields.secret(editing=cluster is not None),
            settings=kind.validate_settings(stored | fields.settings(kind)).model_dump(),
        )
    return Status(202, TestOut.of(test))


@router.get("/cluster-tests/{test_id}", response=TestOut, by_alias=True)
def get_test(request: ApiRequest, test_id: UUID) -> TestOut:
    """The result of one of the caller's own tests: which permissions and parts are in place or
    missing."""
    with translate_errors(REFUSED):
        access.require(request.user, "clusters.update")
    own = ConnectionTest.objects.filter(asked_by=request.user).defer("secret_json")
    test = own.filter(pk=test_id).first()
    if test is None:
        raise not_found("The test")
    return TestOut.of(test)


def find_cluster(request: ApiRequest, cluster_id: UUID) -> Cluster:
    cluster = Cluster.objects.visible_to(request.user).filter(pk=cluster_id).first()
    if cluster is None:
        raise not_found("The cluster")
    return cluster
