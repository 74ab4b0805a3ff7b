from django.urls import URLPattern, path

from workloads.queue import views

urlpatterns: list[URLPattern] = [
    path("clusters/<uuid:pk>/scheduling/", views.scheduling, name="cluster-scheduling"),
]
