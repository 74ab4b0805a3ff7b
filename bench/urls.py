"""Trainyard's addresses, and the admin's changelist over the same table."""

from django.contrib import admin
from django.urls import path

from config.urls import urlpatterns as ours
from workloads.models import Workload


class WorkloadAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not generic when it runs
    """The table's default columns. The page size is the admin's own: 100, where ours is 50."""

    list_display = (
        *("name", "framework", "phase", "message", "project", "created_by", "running_pods"),
        *("num_pods", "last_metrics", "created_at", "gpus", "running_seconds"),
    )
    list_filter = ("phase",)
    list_select_related = ("project", "created_by")
    search_fields = ("name",)


admin.site.register(Workload, WorkloadAdmin)

urlpatterns = [path("admin/", admin.site.urls), *ours]
