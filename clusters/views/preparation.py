"""How far a cluster is with what its workloads wait for."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.http import Request, permission_required
from clusters.models import Cluster

STOP_POLLING = 286  # htmx stops asking for an element with this answer


@require_safe
@login_required
def progress(request: Request, pk: UUID) -> HttpResponse:
    """Show the progress; nothing once the cluster is ready."""
    cluster = get_object_or_404(Cluster.objects.visible_to(request.user), pk=pk)
    if not request.htmx:
        return redirect(cluster)
    preparation = cluster.definition.preparation(cluster)
    if preparation is None or preparation.is_ready:
        return HttpResponse(status=STOP_POLLING)
    context = {"cluster": cluster, "preparation": preparation}
    return render(request, "clusters/_preparation.html", context)


@require_POST
@permission_required("clusters.update")
def again(request: Request, pk: UUID) -> HttpResponse:
    """Try again what failed."""
    cluster = get_object_or_404(Cluster, pk=pk)
    cluster.definition.prepare_again(cluster)
    return redirect(cluster)
