"""Trainyard's addresses, with the admin's changelist of the same table."""

from django.contrib import admin
from django.urls import path

from config.urls import urlpatterns as ours
from workloads.models import Workload


class WorkloadAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not generic at run time
    """The columns that our table has by default. A page has 100 rows, the admin's default; ours has
    50."""

    list_display = (
        *("name", "framework", "phase", "message", "project", "created_by", "running_pods"),
        *("num_pods", "last_metrics", "created_at", "gpus", "running_seconds"),
    )
    list_filter = ("phase",)
    list_select_related = ("project", "created_by")
    search_fields = ("name",)


admin.site.register(Workload, WorkloadAdmin)

urlpatterns = [path("admin/", admin.site.urls), *ours]
