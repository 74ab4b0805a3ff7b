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
    chosen = rounds.DecisionFilter.from_query(request.GET)
    page = rounds.read_page(cluster, request.user, chosen, request.GET.get("page"))
    context = {
        "cluster": cluster,
        "tabs": tabs_of(cluster, request.user),
        "queues": cluster.capabilities.queues,
        "chosen": chosen,
        "page": page,
        "rounds": rounds.group_into_rounds(page, request.user),
        "projects": rounds.visible_projects(cluster, request.user),
        "retention": decisions.RETENTION.days,
        **_verdict_context(cluster, request.user),
    }
    return render_partial(request, "workloads/queue/scheduling.html", "rounds", context)


def _verdict_context(cluster: Cluster, user: User) -> dict[str, Any]:
    """Return how accurate the forecasts were, but only for users who may change the cluster."""
    if not access.may(user, "clusters.update", *cluster.scope_keys):
        return {}
    return {
        "scores": score.verdict_scores(cluster),
        "days": score.SINCE.days,
        "now_seconds": score.NOW_WITHIN_SECONDS,
        "later_seconds": score.LATER_SECONDS,
    }
