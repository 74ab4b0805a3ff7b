from django.urls import URLPattern, path

from workloads.compare import views
from workloads.metrics.export import FORMATS

urlpatterns: list[URLPattern] = [
    path("workloads/compare/", views.compare, name="workload-compare"),
    path("workloads/compare/data/", views.compare_data, name="compare-data"),
    path("workloads/compare/selected/", views.compare_selected, name="compare-selected"),
    *(
        path(
            f"workloads/compare/samples.{file_format}",
            views.compare_file,
            {"file_format": file_format},
            name=f"compare-{file_format}",
        )
        for file_format in FORMATS
    ),
]
