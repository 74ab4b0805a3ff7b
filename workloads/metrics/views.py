"""The data of a workload's charts."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from accounts.http import Request
from core.web.query import parse_number
from workloads.http import find_with_deleted
from workloads.metrics import training, usage
from workloads.metrics.chart import ChartView
from workloads.metrics.export import export_samples
from workloads.metrics.markers import find_markers
from workloads.metrics.series import MetricSource, read_training


@login_required
@require_safe
def metrics_data(request: Request, pk: UUID) -> HttpResponse:
    """``{"training": [chart…], "usage": [chart…], "markers": {axis: [marker…]}}``; ``run`` keeps to
    one run."""
    workload = find_with_deleted(request, pk)
    run = parse_number(request.GET.get("run", ""))
    view = ChartView.from_query(request.GET)
    reported = read_training([MetricSource(workload.pk, run)])[0]
    usages = usage.usage_charts(workload, run, view, reported.began_at)
    markers = find_markers(workload, run, reported, view)
    response = JsonResponse(
        {
            "training": [chart.as_json() for chart in training.training_charts(reported, view)],
            "usage": [chart.as_json() for chart in usages],
            "markers": {axis: [it.as_json() for it in found] for axis, found in markers.items()},
        }
    )
    response["Cache-Control"] = "no-store"
    return response


@login_required
@require_safe
def metrics_file(request: Request, pk: UUID, file_format: str) -> HttpResponse:
    """All samples as a file: of the metrics ``name``, of one ``run``, of the ``kind`` usage."""
    workload = find_with_deleted(request, pk)
    source = MetricSource(workload.pk, parse_number(request.GET.get("run", "")))
    return export_samples(file_format, [source], [workload.name], request.GET, workload.name)
