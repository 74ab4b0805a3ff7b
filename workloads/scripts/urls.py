from django.urls import URLPattern, path

from workloads.scripts import views

urlpatterns: list[URLPattern] = [
    path("workloads/new/batch-script/", views.workload_from_script, name="workload-from-script"),
]
