from django.urls import URLPattern, path

from workloads.views import actions, stream, table

urlpatterns: list[URLPattern] = [
    path("workloads/", table.workload_list, name="workload-list"),
    path("workloads/rows/", table.workload_rows, name="workload-rows"),
    path("workloads/filter/", table.filter_form, name="workload-filter"),
    path("workloads/export.csv", table.workload_csv, name="workload-csv"),
    path("workloads/views/", table.save_view, name="view-save"),
    path("workloads/views/<int:pk>/delete/", table.delete_view, name="view-delete"),
    path("workloads/bulk/", actions.bulk, name="workload-bulk"),
    path("stream/", stream.stream, name="stream"),
]
