"""The pages of single assets. ``kind`` comes from the route."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import Request
from assets import services
from assets.base import A, AssetKind
from assets.gallery.cards import NOT_VALID, asset_cards
from assets.gallery.views import start_links
from assets.links import link_tables
from assets.names import as_yaml
from core.web.http import render_partial
from core.web.pages import deletion_page, is_in_drawer
from projects.scopes import EVERY_CLUSTER

MOST_USERS = 20


@require_safe
@login_required
def detail(request: Request, kind: AssetKind[A], pk: UUID) -> HttpResponse:
    """Show one asset: in the drawer from the gallery, or as a page."""
    asset = get_object_or_404(kind.visible_to(request.user), pk=pk)
    (card,) = asset_cards(kind, [asset], viewer=request.user)
    is_editable = kind.rows.editable_by(request.user).filter(pk=pk).exists()
    context = {
        "kind": kind,
        "asset": asset,
        "facts": [
            *((name, value) for _, name, value in card.facts),
            *([(kind.type_label, card.chips[0][0])] if NOT_VALID not in card.chips else []),
            ("Scope", asset.scope_name),
            ("Cluster", str(asset.cluster or EVERY_CLUSTER)),
            ("Created by", asset.created_by.username if asset.created_by else ""),
        ],
        "panel": kind.panel_of(asset),
        "yaml": as_yaml(kind, asset, request.user),
        "users": [
            (table.noun().capitalize(), holder)
            for table in link_tables()
            for holder in table.holders_of_asset(kind.slug, pk).visible_to(request.user)[
                :MOST_USERS
            ]
        ],
        "may_edit": is_editable,
        "may_create": kind.may_create(request.user),
        "links": start_links(kind, asset, is_editable),
        "has_virtual_gpus": kind.counts_gpus and asset.cluster and asset.cluster.has_virtual_gpus,
        "in_drawer": is_in_drawer(request),
        "edit_address": kind.address("edit", pk),
        "copy_address": kind.address("copy", pk),
        "delete_address": kind.address("delete", pk),
        "versions_address": kind.address("versions", pk),
    }
    return render_partial(request, "assets/detail.html", "detail", context)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def delete(request: Request, kind: AssetKind[A], pk: UUID) -> HttpResponse:
    """Ask for confirmation (GET), or delete (POST). Answers 422 with the holders if something uses
    the asset."""
    asset = get_object_or_404(kind.visible_to(request.user), pk=pk)
    services.check_editable(kind, asset, request.user, "delete")
    return deletion_page(
        request,
        asset,
        kind.noun,
        lambda: services.delete(kind, asset, by=request.user),
        text=f"The {kind.noun} is removed from the gallery. This cannot be undone. "
        + ("" if kind.stays_while_used else "Workloads that use it keep their own copy."),
        crumb=(kind.title, kind.address("list")),
        back=kind.address("detail", pk),
        obstacle=services.obstacle_to_delete(kind, asset, request.user),
    )
