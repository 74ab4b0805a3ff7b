"""Look up the workload in an address."""

from uuid import UUID

from django.shortcuts import get_object_or_404

from accounts.http import Request
from workloads.models import Workload


def find_workload(request: Request, pk: UUID) -> Workload:
    """Return the workload; 404 if the user may not see it."""
    rows = Workload.objects.visible_to(request.user).for_list()
    return get_object_or_404(rows, pk=pk)


def find_with_deleted(request: Request, pk: UUID) -> Workload:
    """Return the workload, even a deleted one that is still kept: for pages that only show it."""
    rows = Workload.objects.within_reach(request.user).for_list()
    return get_object_or_404(rows, pk=pk)
