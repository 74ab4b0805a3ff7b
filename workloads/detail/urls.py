from django.urls import URLPattern, path

from workloads.detail import actions, views

TABS = ("ranks", "logs", "metrics", "terminal", "events", "spec")

urlpatterns: list[URLPattern] = [
    path("workloads/<uuid:pk>/", views.workload_detail, name="workload-detail"),
    path("workloads/<uuid:pk>/header/", views.workload_header, name="workload-header"),
    *(
        path(
            f"workloads/<uuid:pk>/{tab}/",
            views.workload_detail,
            {"tab": tab},
            name=f"workload-{tab}",
        )
        for tab in TABS
    ),
    path("workloads/<uuid:pk>/menu/", actions.menu, name="workload-menu"),
    *(
        path(
            f"workloads/<uuid:pk>/{verb.name}/",
            actions.act,
            {"verb": verb},
            name=f"workload-{verb.name}",
        )
        for verb in actions.VERBS.values()
    ),
    path("workloads/<uuid:pk>/extend/", actions.extend, name="workload-extend"),
    path("workloads/<uuid:pk>/purge/", actions.purge, name="workload-purge"),
    path("workloads/<uuid:pk>/copy/", actions.copy, name="workload-copy"),
    path("workloads/bulk/", actions.bulk, name="workload-bulk"),
    path("workloads/matching/", actions.matching, name="workload-matching"),
]
