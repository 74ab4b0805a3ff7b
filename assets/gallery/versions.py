"""The page of an asset's versions. ``kind`` comes from the route."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST, require_safe

from accounts.http import Request
from assets import services
from assets.base import A, AssetKind
from assets.versions import history
from core.web.http import render_partial
from core.web.pages import is_in_drawer, respond_after_change
from spec.problems.errors import SpecError


@require_safe
@login_required
def listing(request: Request, kind: AssetKind[A], pk: UUID) -> HttpResponse:
    """Show each version with its changes: in the drawer, or as a page."""
    return _page(request, kind, get_object_or_404(kind.visible_to(request.user), pk=pk))


@require_POST
@login_required
def restore(request: Request, kind: AssetKind[A], pk: UUID, number: int) -> HttpResponse:
    asset = get_object_or_404(kind.visible_to(request.user), pk=pk)
    version = get_object_or_404(history.versions_of(kind, asset), number=number)
    try:
        services.restore(kind, asset, version, by=request.user)
    except SpecError as error:
        reasons = " ".join(f"{it.message[:1].upper()}{it.message[1:]}." for it in error.problems)
        return _page(request, kind, asset, f"Version {number} cannot be restored. {reasons}")
    messages.success(request, f"{asset.name} is as it was in version {number}.")
    return respond_after_change(request, kind.address("detail", pk))


def _page(request: Request, kind: AssetKind[A], asset: A, refusal: str = "") -> HttpResponse:
    context = {
        "kind": kind,
        "asset": asset,
        "changes": history.changes(kind, asset, request.user),
        "most": history.MAX_VERSIONS,
        "may_edit": kind.rows.editable_by(request.user).filter(pk=asset.pk).exists(),
        "refusal": refusal,
        "in_drawer": is_in_drawer(request),
    }
    status = 422 if refusal else 200
    return render_partial(request, "assets/versions.html", "versions", context, status=status)
