from django.urls import URLPattern, path

from workloads.views import actions, detail, logs, metrics, tools

TABS = ("ranks", "logs", "metrics", "terminal", "events", "spec")

urlpatterns: list[URLPattern] = [
    path("workloads/<uuid:pk>/", detail.workload_detail, name="workload-detail"),
    path("workloads/<uuid:pk>/header/", detail.workload_header, name="workload-header"),
    *(
        path(
            f"workloads/<uuid:pk>/{tab}/",
            detail.workload_detail,
            {"tab": tab},
            name=f"workload-{tab}",
        )
        for tab in TABS
    ),
    path("workloads/<uuid:pk>/logs/lines/", logs.log_lines, name="log-lines"),
    path("workloads/<uuid:pk>/logs/download/", logs.log_download, name="log-download"),
    path("workloads/<uuid:pk>/metrics/data/", metrics.metrics_data, name="metrics-data"),
    path("workloads/<uuid:pk>/connect/", tools.tool_list, name="tool-list"),
    path("workloads/<uuid:pk>/connect/<slug:slug>/", tools.tool_open, name="tool-open"),
    path("tools/auth/<uuid:pk>/<slug:slug>/", tools.tool_auth, name="tool-auth"),
    path("tools/signin/<uuid:pk>/<slug:slug>/", tools.tool_signin, name="tool-signin"),
    path("workloads/<uuid:pk>/menu/", actions.menu, name="workload-menu"),
    path("workloads/<uuid:pk>/stop/", actions.stop, name="workload-stop"),
    path("workloads/<uuid:pk>/run/", actions.run, name="workload-run"),
    path("workloads/<uuid:pk>/delete/", actions.delete, name="workload-delete"),
    path("workloads/<uuid:pk>/copy/", actions.copy, name="workload-copy"),
]
