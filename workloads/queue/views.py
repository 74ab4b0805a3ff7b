"""The page of a cluster that shows how its workloads were started."""

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from accounts import access
from accounts.http import Request
from accounts.models import User
from clusters.models import Cluster
from clusters.views.pages import tabs_of
from core.web.http import render_partial
from workloads.queue import rounds
from workloads.scheduling.fit import score
from workloads.scheduling.order import decisions


@require_safe
@login_required
def scheduling(request: Request, pk: UUID) -> HttpResponse:
    cluster = get_object_or_404(Cluster.objects.visible_to(request.user), pk=pk)
    chosen = rounds.DecisionFilter.of(request.GET)
    page = rounds.page_of(cluster, request.user, chosen, request.GET.get("page"))
    context = {
        "cluster": cluster,
        "tabs": tabs_of(cluster, request.user),
        "queues": cluster.capabilities.queues,
        "chosen": chosen,
        "page": page,
        "rounds": rounds.rounds_of(page, request.user),
        "projects": rounds.projects_on(cluster, request.user),
        "retention": decisions.RETENTION.days,
        **_verdicts(cluster, request.user),
    }
    return render_partial(request, "workloads/queue/scheduling.html", "rounds", context)


def _verdicts(cluster: Cluster, user: User) -> dict[str, Any]:
    """How accurate the forecasts were; only for users who may change the cluster."""
    if not access.may(user, "clusters.update", *cluster.scope_keys):
        return {}
    return {
        "scores": score.scores(cluster),
        "days": score.SINCE.days,
        "now_seconds": score.NOW_SECONDS,
        "later_seconds": score.LATER_SECONDS,
    }
