"""The workload's page, and the same as a drawer."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import Request
from workloads.views.actions import find


@login_required
@require_safe
def workload_detail(request: Request, pk: UUID) -> HttpResponse:
    return render(request, "workloads/detail.html", {"workload": find(request, pk)})
