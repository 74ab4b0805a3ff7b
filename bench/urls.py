"""Trainyard's addresses, and the admin's changelist over the same table."""

from django.contrib import admin
from django.urls import path

from config.urls import urlpatterns as ours
from workloads.models import Workload


class WorkloadAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not generic when it runs
    list_display = ("name", "phase", "project", "created_by", "gpus", "created_at", "completed_at")
    list_filter = ("phase",)
    list_select_related = ("project", "created_by")
    search_fields = ("name",)
    list_per_page = 50


admin.site.register(Workload, WorkloadAdmin)

urlpatterns = [path("admin/", admin.site.urls), *ours]
