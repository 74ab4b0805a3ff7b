"""The workload's page with its tabs, and the same as a drawer."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.http import Request
from assets.cards import gpu_words
from core.http import render_partial
from core.query import whole_number
from engines.base import METERING, Level
from spec.phases import RankPhase
from workloads import terminals
from workloads.logs.choice import Choice
from workloads.models import SampleKind, Workload
from workloads.page import cause, lifecycle, spec
from workloads.page.words import exit_in_words
from workloads.table.columns import shown_metrics
from workloads.views.actions import find

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
# The part of the page that an htmx target asks for.
PARTS = {"drawer": "drawer", "workload-content": "content"}


@login_required
@require_safe
def workload_detail(request: Request, pk: UUID, tab: str = "overview") -> HttpResponse:
    workload = find(request, pk)
    context = _head(workload) | {
        "tab": tab,
        "tabs": [(key, label, address(workload, key)) for key, label in TABS.items()],
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
    level = "h1" if request.GET.get("level") == "h1" else ""
    context = _head(find(request, pk)) | {"level": level}
    return render(request, "workloads/detail/_head.html", context)


def _is_in_drawer(request: Request, workload: Workload) -> bool:
    """Whether it is shown beside another page, whose address then stays."""
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
    ranks, causes = list(workload.ranks.all()), cause.history(workload)
    return {
        "failure": cause.failure(workload, ranks),
        "wait": cause.wait(workload, causes),
        "causes": causes,
        "ranks": ranks,
        "last_metrics": shown_metrics(workload, ("step", "loss", "accuracy")),
    }


def _ranks(request: Request, workload: Workload) -> dict[str, Any]:
    usage = last_usage(workload)
    nothing = {"cpu": None, "memory": None, "gpu": None, "gpu_memory": None}
    asked = {pod.rank: pod.replica.compute for pod in workload.spec.pods}
    rows = [
        (
            rank,
            exit_in_words(rank.exit_code),
            nothing | usage.get(rank.rank, {}),
            gpu_words(asked[rank.rank]) if rank.node and rank.rank in asked else "–",
        )
        for rank in workload.ranks.all()
    ]
    return {"rows": rows}


def last_usage(workload: Workload) -> dict[int, dict[str, float]]:
    """What each rank used when it was last looked at, in this run."""
    samples = workload.samples.filter(kind=SampleKind.USAGE).order_by("-at")
    newest: dict[int, dict[str, float]] = {}
    for sample in samples[: 3 * workload.num_pods]:
        if sample.run == workload.run:
            newest.setdefault(sample.rank, sample.values)
    return newest


def _logs(request: Request, workload: Workload) -> dict[str, Any]:
    return {"choice": Choice.of(workload, request.GET)}


def _metrics(request: Request, workload: Workload) -> dict[str, Any]:
    found = (one for one in workload.cluster.findings if one.area == METERING)
    unmetered = next((one.text for one in found if one.level is not Level.OK), "")
    return {"runs": range(1, workload.run + 1), "unmetered": unmetered}


def _terminal(request: Request, workload: Workload) -> dict[str, Any]:
    running = [rank for rank in workload.ranks.all() if rank.phase == RankPhase.RUNNING]
    chosen = whole_number(request.GET.get("rank", ""))
    return {"problem": terminals.why_none(workload), "running": running, "chosen": chosen}


def _events(request: Request, workload: Workload) -> dict[str, Any]:
    events = workload.events.select_related("actor")
    if (before := whole_number(request.GET.get("before", ""))) is not None:
        events = events.filter(pk__lt=before)
    found = list(events.order_by("-pk")[: EVENTS + 1])
    return {"events": found[:EVENTS], "older": found[EVENTS - 1].pk if len(found) > EVENTS else 0}


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
