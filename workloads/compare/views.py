"""The page that compares workloads or runs, and the data of its charts."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from accounts.http import Request
from core.web.http import redirect_after_success
from workloads.compare import differences, results
from workloads.compare.subjects import MOST, compare_address, select_subjects
from workloads.metrics import training
from workloads.metrics.chart import ChartView
from workloads.metrics.export import export_samples


@login_required
@require_safe
def compare(request: Request) -> HttpResponse:
    """Compare what ``ids`` names. With ``fields=all`` equal fields are listed, too."""
    selection = select_subjects(request.GET, request.user)
    rows = [
        *differences.compare_assets(selection, request.user),
        *differences.compare_specs(selection),
    ]
    shows_all = request.GET.get("fields") == "all"
    context = {
        "selection": selection,
        "columns": [
            (subject, label, selection.without(subject))
            for subject, label in zip(selection.subjects, selection.labels, strict=True)
        ],
        "metrics": results.read_results(selection) if selection.is_enough else [],
        "fields": [row for row in rows if shows_all or row.differs],
        "field_count": len(rows),
        "difference_count": sum(row.differs for row in rows),
        "shows_all": shows_all,
        "other_fields": _query(request, fields=None if shows_all else "all"),
    }
    return render(request, "workloads/compare.html", context)


def _query(request: Request, fields: str | None) -> str:
    """Return the query of this page with other ``fields``."""
    kept = [pair for pair in request.GET.lists() if pair[0] != "fields"]
    changed = [*kept, ("fields", [fields])] if fields else kept
    return urlencode(changed, doseq=True, safe=",:")


@login_required
@require_safe
def compare_data(request: Request) -> HttpResponse:
    """``{"training": [chart…]}``, with a line for each of what ``ids`` names."""
    selection = select_subjects(request.GET, request.user)
    view = ChartView.from_query(request.GET)
    charts = training.compared_charts(selection.sources, selection.labels, view)
    response = JsonResponse({"training": [chart.as_json() for chart in charts]})
    response["Cache-Control"] = "no-store"
    return response


@login_required
@require_safe
def compare_file(request: Request, file_format: str) -> HttpResponse:
    """All samples of what ``ids`` names as a file: of the metrics ``name``, or of all."""
    selection = select_subjects(request.GET, request.user)
    return export_samples(file_format, selection.sources, selection.labels, request.GET, "compared")


@login_required
@require_POST
def compare_selected(request: Request) -> HttpResponse:
    """Lead from the rows that are selected in the table to their comparison."""
    others = filter(None, request.POST.get("others", "").split(","))
    return redirect_after_success(
        request, compare_address([*request.POST.getlist("id"), *others][: 2 * MOST])
    )
