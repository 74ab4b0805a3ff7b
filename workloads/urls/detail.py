from django.urls import URLPattern, path

from workloads.views import actions, detail

urlpatterns: list[URLPattern] = [
    path("workloads/<uuid:pk>/", detail.workload_detail, name="workload-detail"),
    path("workloads/<uuid:pk>/stop/", actions.stop, name="workload-stop"),
    path("workloads/<uuid:pk>/run/", actions.run, name="workload-run"),
    path("workloads/<uuid:pk>/delete/", actions.delete, name="workload-delete"),
    path("workloads/<uuid:pk>/copy/", actions.copy, name="workload-copy"),
]
