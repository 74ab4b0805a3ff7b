"""Views of a workload's page with its tabs, which can also be shown as a drawer."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.http import Request
from assets.compute.card import devices_words, gpu_words
from core.web.http import render_partial
from core.web.query import parse_number
from engines.findings import METERING, Level
from spec.parts.compute import Compute
from spec.phases import RankPhase
from workloads.detail import cause, lifecycle, spec
from workloads.detail.exit_codes import exit_in_words
from workloads.detail.outlook import outlook
from workloads.detail.ranks import RankFilter
from workloads.http import find_with_deleted
from workloads.logs.choice import Choice
from workloads.metrics import curve
from workloads.models import Rank, SampleKind, Workload
from workloads.scheduling.fit import score
from workloads.table.columns import shown_metrics
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
EVENTS = 200
# The part of the page to render, by htmx target.
PARTS = {"drawer": "drawer", "workload-content": "content"}


@login_required
@require_safe
def workload_detail(request: Request, pk: UUID, tab: str = "overview") -> HttpResponse:
    """A workload's page with one of its tabs; for htmx only the part that the target needs."""
    workload = find_with_deleted(request, pk)
    context = _head(workload) | {
        "tab": tab,
        "title": workload.name if tab == "overview" else f"{workload.name} · {TABS[tab]}",
        "tabs": _tabs(workload),
        "here": address(workload, tab),
        "in_drawer": _is_in_drawer(request, workload),
    }
    context |= CONTENT[tab](request, workload)
    part = PARTS.get(request.htmx.target or "", "panel")
    response = render_partial(request, "workloads/detail.html", part, context)
    response["Vary"] = "HX-Request, HX-Target"
    return response


@login_required
@require_safe
def workload_header(request: Request, pk: UUID) -> HttpResponse:
    """The header alone, which open pages load again when the workload changes."""
    level = "h1" if request.GET.get("level") == "h1" else ""
    context = _head(find_with_deleted(request, pk)) | {"level": level}
    return render(request, "workloads/detail/_head.html", context)


def _tabs(workload: Workload) -> list[tuple[str, str, str]]:
    """Key, label and address of each tab. A deleted workload has no terminal."""
    keys = [key for key in TABS if not (workload.deleted_at and key == "terminal")]
    return [(key, TABS[key], address(workload, key)) for key in keys]


def _is_in_drawer(request: Request, workload: Workload) -> bool:
    """Whether the workload is shown in a drawer next to another page, whose address then stays."""
    here = request.htmx.current_url_abs_path or workload.get_absolute_url()
    return not here.startswith(workload.get_absolute_url())


def address(workload: Workload, tab: str) -> str:
    name = "workload-detail" if tab == "overview" else f"workload-{tab}"
    return reverse(name, args=[workload.pk])


def _head(workload: Workload) -> dict[str, Any]:
    run = lifecycle.moments(workload)
    resumed = workload.attempts.filter(resumed_step__isnull=False).order_by("-run", "-attempt")
    return {
        "workload": workload,
        "stages": lifecycle.bar(workload, run),
        "resumed": resumed.first(),
    }


def _overview(request: Request, workload: Workload) -> dict[str, Any]:
    ranks = list(workload.ranks.all())
    causes = cause.history(workload)
    wait = cause.wait(workload, causes)
    return {
        "failure": cause.failure(workload, ranks),
        "wait": wait,
        "outlook": outlook(workload, ranks, request.user) if wait else None,
        "causes": causes,
        "ranks": ranks,
        "foreseen": score.in_words(workload),
        "last_metrics": [
            (name, value, workload.curves.get(name, ()))
            for name, value in shown_metrics(workload, ("step", *curve.CURVE_NAMES))
        ],
    }


def _ranks(request: Request, workload: Workload) -> dict[str, Any]:
    usage = last_usage(workload)
    nothing = {"cpu": None, "memory": None, "gpu": None, "gpu_memory": None}
    pods = () if workload.spec_fault else workload.spec.pods
    asked = {pod.rank: pod.replica.compute for pod in pods}
    choice = RankFilter.of(list(workload.ranks.all()), request.GET)
    rows = [
        (
            rank,
            exit_in_words(rank.exit_code),
            nothing | usage.get(rank.rank, {}),
            _gpus(rank, asked.get(rank.rank)),
        )
        for rank in choice.shown
    ]
    here = address(workload, "ranks")
    return {"rows": rows, "choice": choice, "here": f"{here}?{choice.query}".rstrip("?")}


def _gpus(rank: Rank, compute: Compute | None) -> str:
    """The GPUs that the rank has, or only their number if the cluster does not report which."""
    if compute is None or not (rank.gpu_devices or rank.node):
        return "–"
    return devices_words(rank.gpu_devices, compute) if rank.gpu_devices else gpu_words(compute)


def last_usage(workload: Workload) -> dict[int, dict[str, float]]:
    """The last usage sample of each rank in the current run, by rank."""
    samples = workload.samples.filter(kind=SampleKind.USAGE).order_by("-at")
    newest: dict[int, dict[str, float]] = {}
    for sample in samples[: 3 * workload.num_pods]:
        if sample.run == workload.run:
            newest.setdefault(sample.rank, sample.values)
    return newest


def _logs(request: Request, workload: Workload) -> dict[str, Any]:
    return {"choice": Choice.of(workload, request.GET)}


def _metrics(request: Request, workload: Workload) -> dict[str, Any]:
    findings = (one for one in workload.cluster.findings if one.area == METERING)
    unmetered = next((one.text for one in findings if one.level is not Level.OK), "")
    return {"runs": range(1, workload.run + 1), "unmetered": unmetered}


def _terminal(request: Request, workload: Workload) -> dict[str, Any]:
    running = [rank for rank in workload.ranks.all() if rank.phase == RankPhase.RUNNING]
    chosen = parse_number(request.GET.get("rank", ""))
    problem = access.why_no_terminal(workload, request.user)
    return {"problem": problem, "running": running, "chosen": chosen}


def _events(request: Request, workload: Workload) -> dict[str, Any]:
    events = workload.events.select_related("actor")
    if (before := parse_number(request.GET.get("before", ""))) is not None:
        events = events.filter(pk__lt=before)
    newest = list(events.order_by("-pk")[: EVENTS + 1])
    return {
        "events": newest[:EVENTS],
        "older": newest[EVENTS - 1].pk if len(newest) > EVENTS else 0,
    }


def _spec(request: Request, workload: Workload) -> dict[str, Any]:
    return {
        "values": spec.values(workload),
        "yaml": spec.as_yaml(workload),
        "difference": spec.difference(workload),
        "manifest": spec.manifest(workload),
    }


Content = Callable[[Request, Workload], dict[str, Any]]
CONTENT: dict[str, Content] = {
    "overview": _overview,
    "ranks": _ranks,
    "logs": _logs,
    "metrics": _metrics,
    "terminal": _terminal,
    "events": _events,
    "spec": _spec,
}
