"""A cluster's page about the start of its workloads."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.http import Request, permission_required
from clusters.models import Cluster
from clusters.views.pages import tabs_of
from workloads.scheduling.fit import score


@require_safe
@permission_required("clusters.update")
def scheduling(request: Request, pk: UUID) -> HttpResponse:
    cluster = get_object_or_404(Cluster.objects.visible_to(request.user), pk=pk)
    context = {
        "cluster": cluster,
        "tabs": tabs_of(cluster, request.user),
        "scores": score.scores(cluster),
        "days": score.SINCE.days,
        "now_seconds": score.NOW_SECONDS,
        "later_seconds": score.LATER_SECONDS,
    }
    return render(request, "workloads/queue/scheduling.html", context)
