"""Views of the overview: the page, its live panels, and ticking off what needs its reader."""

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import get_text_list
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts import access
from accounts.http import Request
from core.web.http import render_partial
from spec.phases import ENDED, STARTED, WAITING, Phase
from workloads.home import gpus, needs, now
from workloads.home.scope import HomeScope
from workloads.models import Workload
from workloads.table.filters import OR, Filter
from workloads.table.state import TableState
from workloads.wizard import drafts

MOST_NAMED = 3  # administrators
CHART_SECONDS = 30
TABLES = {"running": STARTED, "waiting": WAITING, "ended": ENDED}


@login_required
@require_safe
def home(request: Request) -> HttpResponse:
    """Render the overview; for htmx its live panels alone."""
    scope = HomeScope.parse(request.GET, request.user)
    context: dict[str, Any] = {"scope": scope, "preparations": now.unfinished_preparations(scope)}
    if not scope.projects:
        names = [str(user) for user in access.permitted_users("access-rules.create")[:MOST_NAMED]]
        context["administrators"] = get_text_list(names, "or") or "an administrator"
        return render(request, "workloads/home.html", context)
    for read_panel in PANELS:
        context |= read_panel(scope)
    response = render_partial(request, "workloads/home.html", "panels", context)
    response["Vary"] = "HX-Request"
    return response


@login_required
@never_cache
@require_safe
def needs_count(request: Request) -> HttpResponse:
    """Render how many workloads need the reader, for the navigation of every page."""
    context = {"count": needs.count_needs(request.user)}
    return render(request, "workloads/home/_count.html", context)


@login_required
@require_safe
def gpu_chart(request: Request) -> JsonResponse:
    """Return the numbers of the chart of GPUs. The browser may keep them for half a minute."""
    scope = HomeScope.parse(request.GET, request.user)
    response = JsonResponse(gpus.gpus_over_time(scope))
    response["Cache-Control"] = f"private, max-age={CHART_SECONDS}"
    return response


@login_required
@require_POST
def dismiss(request: Request) -> HttpResponse:
    """Tick off the needs in ``keys``, and render the others."""
    scope = HomeScope.parse(request.GET, request.user)
    keys = request.POST.get("keys", "").split(",")
    number = needs.dismiss(keys, scope.workloads(), by=request.user)
    if not request.htmx:
        done = f"Ticked off {number} workload{'' if number == 1 else 's'}."
        messages.success(request, done)
        return redirect(scope.address)
    context = {"scope": scope, "dismissed": number, **_needs_panel(scope)}
    return render(request, "workloads/home.html#needs_and_count", context)


def _needs_panel(scope: HomeScope) -> dict[str, Any]:
    found = needs.find_needs(scope.needing(), scope.reader)
    groups = needs.group_needs(found)
    is_all_of_reader = scope.project is None and not scope.shows_everyone
    count = len(found) if is_all_of_reader else needs.count_needs(scope.reader)
    return {
        "needs": found,
        "groups": groups[: needs.MOST_GROUPS],
        "hidden_count": sum(len(group.needs) for group in groups[needs.MOST_GROUPS :]),
        "needs_count": count,
        "keys": needs.keys_ending_soon(scope.reader),
        "is_first_day": not Workload.objects.filter(created_by=scope.reader).exists(),
    }


def _now_panels(scope: HomeScope) -> dict[str, Any]:
    manages_clusters = access.may_anywhere(scope.reader, "clusters.update")
    return {
        "as_of": timezone.now(),
        "counts": now.count_workloads(scope),
        "tables": {name: _table_address(scope, phases) for name, phases in TABLES.items()},
        "silent": now.silent_clusters(scope),
        "running": now.running_rows(scope),
        "waiting": now.waiting_rows(scope),
        "ended": now.ended_rows(scope),
        "quotas": gpus.quota_rows(scope),
        "clusters": gpus.cluster_rows(scope) if manages_clusters else [],
        "drafts": drafts.unfinished_drafts(scope.reader),
    }


def _table_address(scope: HomeScope, phases: Iterable[Phase]) -> str:
    """Return the address of the table of workloads in these phases."""
    filters = [Filter("status", "is", OR.join(filter(set(phases).__contains__, Phase)))]
    if scope.project:
        filters.append(Filter("project", "is", scope.project.name))
    return TableState(filters=tuple(filters)).address(reverse("workload-list"))


PANELS: tuple[Callable[[HomeScope], dict[str, Any]], ...] = (_needs_panel, _now_panels)
