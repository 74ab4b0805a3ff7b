"""The addresses of workflows."""

from django.urls import path

from workflows.views import pages, pools, submission

urlpatterns = [
    path("workflows/", pages.listing, name="workflow-list"),
    path("workflows/new/", submission.submit, name="workflow-new"),
    path("workflows/pools/", pools.listing, name="pool-list"),
    path("workflows/pools/new/", pools.create, name="pool-create"),
    path("workflows/pools/<slug:name>/edit/", pools.edit, name="pool-edit"),
    path("workflows/pools/<slug:name>/delete/", pools.delete, name="pool-delete"),
    path("workflows/<uuid:pk>/", pages.detail, name="workflow-detail"),
    *(
        path(f"workflows/<uuid:pk>/{tab}/", pages.detail, {"tab": tab}, name=f"workflow-{tab}")
        for tab in pages.TABS
        if tab != "graph"
    ),
    path("workflows/<uuid:pk>/cancel/", pages.cancel, name="workflow-cancel"),
    path("workflows/<uuid:pk>/restart/", pages.restart, name="workflow-restart"),
    path("workflows/<uuid:pk>/delete/", pages.delete, name="workflow-delete"),
]
