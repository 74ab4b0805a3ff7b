"""Views of a workload's page with its tabs, which can also open in a drawer."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.http import Request
from assets.compute.card import devices_words, gpu_words
from core.web.http import render_partial
from core.web.query import parse_number
from engines.findings import METERING, Level
from spec.parts.compute import Compute
from spec.phases import RankPhase
from workloads.compare.subjects import compare_address, runs_address
from workloads.detail import cause, lifecycle, spec
from workloads.detail.exit_codes import describe_exit
from workloads.detail.outlook import read_outlook
from workloads.detail.quiet import quiet_since
from workloads.detail.ranks import RankFilter
from workloads.http import find_with_deleted
from workloads.logs.choice import Choice
from workloads.metrics import curve
from workloads.models import Rank, SampleKind, Workload
from workloads.scheduling.fit import score
from workloads.scheduling.limits import rule_limits
from workloads.table.columns import format_figure, format_metrics
from workloads.terminal import access

TABS = {
    "overview": "Overview",
    "ranks": "Ranks",
    "logs": "Logs",
    "metrics": "Metrics",
    "terminal": "Terminal",
    "events": "Event history",
    "spec": "Spec",
}
MOST_EVENTS = 200
MOST_WARNINGS = 3
MOST_CHECKPOINTS = 5
SECONDS_PER_HOUR = 3600
# The part of the page to render, by htmx target.
PARTS = {"drawer": "drawer", "workload-content": "content"}


@login_required
@require_safe
def workload_detail(request: Request, pk: UUID, tab: str = "overview") -> HttpResponse:
    """Render a workload's page with one of its tabs; for htmx only the part that the target
    needs."""
    workload = find_with_deleted(request, pk)
    context = _header_context(workload) | {
        "tab": tab,
        "title": workload.name if tab == "overview" else f"{workload.name} · {TABS[tab]}",
        "tabs": _tabs(workload),
        "address": tab_address(workload, tab),
        "in_drawer": _is_in_drawer(request, workload),
    }
    context |= TAB_CONTEXTS[tab](request, workload)
    part = PARTS.get(request.htmx.target or "", "panel")
    response = render_partial(request, "workloads/detail.html", part, context)
    response["Vary"] = "HX-Request, HX-Target"
    return response


@login_required
@require_safe
def workload_header(request: Request, pk: UUID) -> HttpResponse:
    """Render the header alone, which open pages load again when the workload changes."""
    level = "h1" if request.GET.get("level") == "h1" else ""
    context = _header_context(find_with_deleted(request, pk)) | {"level": level}
    return render(request, "workloads/detail/_head.html", context)


def _tabs(workload: Workload) -> list[tuple[str, str, str]]:
    """Return key, label and address of each tab. A deleted workload has no terminal."""
    keys = [key for key in TABS if not (workload.deleted_at and key == "terminal")]
    return [(key, TABS[key], tab_address(workload, key)) for key in keys]


def _is_in_drawer(request: Request, workload: Workload) -> bool:
    """Return whether a drawer next to another page shows the workload. The address of that page
    then stays."""
    page_address = request.htmx.current_url_abs_path or workload.get_absolute_url()
    return not page_address.startswith(workload.get_absolute_url())


def tab_address(workload: Workload, tab: str) -> str:
    name = "workload-detail" if tab == "overview" else f"workload-{tab}"
    return reverse(name, args=[workload.pk])


def _header_context(workload: Workload) -> dict[str, Any]:
    run = lifecycle.read_moments(workload)
    resumed = workload.attempts.filter(resumed_step__isnull=False).order_by("-run", "-attempt")
    return {
        "workload": workload,
        "stages": lifecycle.build_stages(workload, run),
        "resumed": resumed.first(),
        "preemption": lifecycle.find_preemption(workload),
        "not_finite": _not_finite_metrics(workload),
        "quiet_since": quiet_since(workload, timezone.now()),
        "near_stops": list(rule_limits.near_stops(workload)),
    }


def _not_finite_metrics(workload: Workload) -> list[tuple[str, str, int]]:
    """Return name, value and first step of the metrics that are NaN or infinite now."""
    return [
        (name, format_figure(workload.last_metrics[name]), step)
        for name, step in workload.not_finite.items()
        if name in workload.last_metrics
    ][:MOST_WARNINGS]


def _overview_context(request: Request, workload: Workload) -> dict[str, Any]:
    ranks = list(workload.ranks.all())
    causes = cause.wait_history(workload)
    wait = cause.current_wait(workload, causes)
    return {
        "failure": cause.first_failure(workload, ranks),
        "wait": wait,
        "outlook": read_outlook(workload, ranks, request.user) if wait else None,
        "causes": causes,
        "ranks": ranks,
        "foreseen": score.verdict_in_words(workload),
        "checkpoints": workload.newest_checkpoints(MOST_CHECKPOINTS),
        "gpu_hours_at_risk": (workload.seconds_at_risk or 0.0) * workload.gpus / SECONDS_PER_HOUR,
        "rule_limits": list(rule_limits.limit_facts(workload)),
        "may_extend": rule_limits.may_extend(workload, request.user),
        "last_metrics": [
            (name, value, workload.curves.get(name, ()))
            for name, value in format_metrics(workload, ("step", *curve.CURVE_NAMES))
        ],
    }


def _ranks_context(request: Request, workload: Workload) -> dict[str, Any]:
    usage = last_usage(workload)
    no_usage = {"cpu": None, "memory": None, "gpu": None, "gpu_memory": None}
    pods = () if workload.spec_fault else workload.spec.pods
    requests = {pod.rank: pod.replica.compute for pod in pods}
    choice = RankFilter.from_query(list(workload.ranks.all()), request.GET)
    rows = [
        (
            rank,
            describe_exit(rank.exit_code),
            no_usage | usage.get(rank.rank, {}),
            _gpu_text(rank, requests.get(rank.rank)),
        )
        for rank in choice.matching_ranks
    ]
    address = f"{tab_address(workload, 'ranks')}?{choice.query}".rstrip("?")
    return {"rows": rows, "choice": choice, "address": address}


def _gpu_text(rank: Rank, compute: Compute | None) -> str:
    """Return the GPUs that the rank has, or only their number if the cluster does not report
    which."""
    if compute is None or not (rank.gpu_devices or rank.node):
        return "–"
    if rank.gpu_devices:
        return devices_words(rank.gpu_devices, compute)
    return gpu_words(compute)


def last_usage(workload: Workload) -> dict[int, dict[str, float]]:
    """Return the last usage sample of each rank in the current run, by rank."""
    samples = workload.samples.filter(kind=SampleKind.USAGE).order_by("-at")
    newest: dict[int, dict[str, float]] = {}
    for sample in samples[: 3 * workload.num_pods]:
        if sample.run == workload.run:
            newest.setdefault(sample.rank, sample.values)
    return newest


def _logs_context(request: Request, workload: Workload) -> dict[str, Any]:
    return {"choice": Choice.of(workload, request.GET)}


def _metrics_context(request: Request, workload: Workload) -> dict[str, Any]:
    findings = (finding for finding in workload.cluster.findings if finding.area == METERING)
    unmetered = next((finding.text for finding in findings if finding.level is not Level.OK), "")
    return {
        "runs": range(1, workload.run + 1),
        "unmetered": unmetered,
        "compare_runs": runs_address(workload),
    }


def _terminal_context(request: Request, workload: Workload) -> dict[str, Any]:
    running = [rank for rank in workload.ranks.all() if rank.phase == RankPhase.RUNNING]
    chosen = parse_number(request.GET.get("rank", ""))
    problem = access.why_no_terminal(workload, request.user)
    return {"problem": problem, "running": running, "chosen": chosen}


def _events_context(request: Request, workload: Workload) -> dict[str, Any]:
    events = workload.events.select_related("actor")
    before = parse_number(request.GET.get("before", ""))
    if before is not None:
        events = events.filter(pk__lt=before)
    newest = list(events.order_by("-pk")[: MOST_EVENTS + 1])
    return {
        "events": newest[:MOST_EVENTS],
        "older": newest[MOST_EVENTS - 1].pk if len(newest) > MOST_EVENTS else 0,
    }


def _spec_context(request: Request, workload: Workload) -> dict[str, Any]:
    origin = workload.copied_from_id
    return {
        "values": spec.field_values(workload),
        "yaml": spec.to_yaml(workload, request.user),
        "difference": spec.difference(workload),
        "compare": origin and compare_address([str(origin), str(workload.pk)]),
        "manifest": spec.render_manifest(workload),
    }


Content = Callable[[Request, Workload], dict[str, Any]]
TAB_CONTEXTS: dict[str, Content] = {
    "overview": _overview_context,
    "ranks": _ranks_context,
    "logs": _logs_context,
    "metrics": _metrics_context,
    "terminal": _terminal_context,
    "events": _events_context,
    "spec": _spec_context,
}
