"""From an address to the workload that it names."""

from uuid import UUID

from django.shortcuts import get_object_or_404

from accounts.http import Request
from workloads.models import Workload


def find(request: Request, pk: UUID) -> Workload:
    """The workload, or 404 for whoever may not see it."""
    rows = Workload.objects.visible_to(request.user).for_list()
    return get_object_or_404(rows, pk=pk)


def find_kept(request: Request, pk: UUID) -> Workload:
    """The same, to look at only: a deleted one, too, as long as it is kept."""
    rows = Workload.objects.within_reach(request.user).for_list()
    return get_object_or_404(rows, pk=pk)
