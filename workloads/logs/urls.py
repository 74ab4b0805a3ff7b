from django.urls import URLPattern, path

from workloads.logs import views

urlpatterns: list[URLPattern] = [
    path("workloads/<uuid:pk>/logs/lines/", views.log_lines, name="log-lines"),
    path("workloads/<uuid:pk>/logs/search/", views.log_search, name="log-search"),
    path("workloads/<uuid:pk>/logs/download/", views.log_download, name="log-download"),
]
