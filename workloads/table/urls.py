from django.urls import URLPattern, path

from workloads.table import views

urlpatterns: list[URLPattern] = [
    path("workloads/", views.workload_list, name="workload-list"),
    path("workloads/rows/", views.workload_rows, name="workload-rows"),
    path("workloads/filter/", views.filter_form, name="workload-filter"),
    path("workloads/export.csv", views.workload_csv, name="workload-csv"),
    path("palette/", views.palette, name="palette"),
    path("workloads/views/", views.save_view, name="view-save"),
    path("workloads/views/<int:pk>/delete/", views.delete_view, name="view-delete"),
]
