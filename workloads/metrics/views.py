"""The data of a workload's charts."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from accounts.http import Request
from core.web.query import parse_number
from workloads.http import find_with_deleted
from workloads.metrics import chart


@login_required
@require_safe
def metrics_data(request: Request, pk: UUID) -> HttpResponse:
    """``{"training": [chart…], "usage": [chart…]}``; ``run`` keeps to one run."""
    workload = find_with_deleted(request, pk)
    run = parse_number(request.GET.get("run", ""))
    response = JsonResponse(
        {
            "training": [it.as_json() for it in chart.training_charts(workload, run)],
            "usage": [it.as_json() for it in chart.usage_charts(workload, run)],
        }
    )
    response["Cache-Control"] = "no-store"
    return response
