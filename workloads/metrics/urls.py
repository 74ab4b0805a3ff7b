from django.urls import URLPattern, path

from workloads.metrics import views
from workloads.metrics.export import FORMATS

urlpatterns: list[URLPattern] = [
    path("workloads/<uuid:pk>/metrics/data/", views.metrics_data, name="metrics-data"),
    *(
        path(
            f"workloads/<uuid:pk>/metrics/samples.{file_format}",
            views.metrics_file,
            {"file_format": file_format},
            name=f"metrics-{file_format}",
        )
        for file_format in FORMATS
    ),
]
