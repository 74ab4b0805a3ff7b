"""Addresses of the workloads, one module for each group of pages."""

from django.urls import URLPattern

from workloads.urls import detail, table, wizard

urlpatterns: list[URLPattern] = [
    *table.urlpatterns,
    *detail.urlpatterns,
    *wizard.urlpatterns,
]
