"""The addresses of clusters, their nodes and node pools."""

from django.urls import path

from clusters.views import edit, findings, nodes, pages, pools, preparation

urlpatterns = [
    path("clusters/", pages.listing, name="cluster-list"),
    path("clusters/new/", edit.create, name="cluster-create"),
    path("clusters/rights.yaml", findings.manifest, name="cluster-rights"),
    path("clusters/tests/<uuid:pk>/", edit.result, name="cluster-test-result"),
    path("clusters/<uuid:pk>/", pages.detail, name="cluster-detail"),
    path("clusters/<uuid:pk>/preparation/", preparation.progress, name="cluster-preparation"),
    path("clusters/<uuid:pk>/preparation/again/", preparation.again, name="cluster-prepare-again"),
    path("clusters/<uuid:pk>/edit/", edit.edit, name="cluster-edit"),
    path("clusters/<uuid:pk>/delete/", edit.delete, name="cluster-delete"),
    path("clusters/<uuid:pk>/test/", edit.test, name="cluster-test"),
    path("clusters/<uuid:pk>/connection/", findings.connection, name="cluster-connection"),
    path("clusters/<uuid:pk>/nodes/", nodes.listing, name="cluster-nodes"),
    path("clusters/<uuid:pk>/nodes/<int:node>/", nodes.detail, name="cluster-node"),
    path("clusters/<uuid:pk>/node-pools/", nodes.pools, name="cluster-pools"),
    path("clusters/<uuid:pk>/node-pools/new/", pools.create, name="cluster-pool-create"),
    path("clusters/<uuid:pk>/node-pools/<int:pool>/", pools.edit, name="cluster-pool-edit"),
    path(
        "clusters/<uuid:pk>/node-pools/<int:pool>/delete/", pools.delete, name="cluster-pool-delete"
    ),
]
