from django.urls import URLPattern, path

from workloads.home import views

urlpatterns: list[URLPattern] = [
    path("", views.home, name="home"),
    path("overview/needs/", views.needs_count, name="needs-count"),
    path("overview/gpus/", views.gpu_chart, name="home-gpus"),
    path("overview/dismiss/", views.dismiss, name="needs-dismiss"),
]
