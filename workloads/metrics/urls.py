from django.urls import URLPattern, path

from workloads.metrics import views

urlpatterns: list[URLPattern] = [
    path("workloads/<uuid:pk>/metrics/data/", views.metrics_data, name="metrics-data"),
]
