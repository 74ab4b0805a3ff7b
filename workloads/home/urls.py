from django.urls import URLPattern, path

from workloads.home import views

urlpatterns: list[URLPattern] = [
    path("", views.home, name="home"),
    path("overview/needs/", views.needs_count, name="needs-count"),
    path("overview/dismiss/", views.dismiss, name="needs-dismiss"),
]
