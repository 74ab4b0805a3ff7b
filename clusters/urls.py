"""``/clusters/``: what workloads run on."""

from django.urls import path

from clusters.views import pages

urlpatterns = [
    path("clusters/", pages.listing, name="cluster-list"),
    path("clusters/<uuid:pk>/", pages.detail, name="cluster-detail"),
]
