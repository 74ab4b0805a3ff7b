"""Galleries and the pages of single assets. ``kind`` comes from the route."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import Request
from assets import services
from assets.base import A, AssetCard, AssetKind
from assets.cards import NOT_VALID, cards
from assets.forms.base import EVERY
from assets.links import tables, used_by
from assets.names import as_yaml
from core.http import render_partial
from core.pages import done, in_drawer, question_page
from core.query import search_text
from projects.scopes import Scope

CARDS_A_PAGE = 24
MOST_USERS = 20


@require_safe
@login_required
def listing(request: Request, kind: AssetKind[A]) -> HttpResponse:
    """The gallery; ``q`` searches, ``scope`` filters."""
    matches = kind.visible_to(request.user).order_by("name", "pk")
    text, scope = search_text(request.GET), request.GET.get("scope", "")
    if text:
        matches = matches.search(text)
    if scope in Scope.values:
        matches = matches.filter(scope=scope)
    page = Paginator(matches, CARDS_A_PAGE).get_page(request.GET.get("page"))
    editable = set(
        kind.rows.editable_by(request.user)
        .filter(pk__in=[asset.pk for asset in page])
        .values_list("pk", flat=True)
    )
    context = {
        "kind": kind,
        "page": page,
        "cards": [
            gallery_card(kind, asset, card, asset.pk in editable)
            for asset, card in zip(page, cards(kind, list(page)), strict=True)
        ],
        "scopes": Scope.choices,
        "q": text,
        "scope": scope,
        "address": kind.address("list"),
        "create_address": kind.address("create") if kind.has_form else "",
        "begin_address": reverse(kind.begins_at) if kind.begins_at else "",
    }
    return render_partial(request, "assets/gallery.html", "cards", context)


def gallery_card(kind: AssetKind[A], asset: Any, card: AssetCard, editable: bool) -> dict[str, Any]:
    """Values of ``components/asset_card.html``."""
    menu = [(kind.copy_verb, kind.address("copy", asset.pk), "copy")]
    if editable:
        menu.insert(0, (kind.edit_verb, kind.address("edit", asset.pk), "pencil"))
        menu.append(("Delete", kind.address("delete", asset.pk), "trash"))
    users = used_by(asset)
    return {
        "title": asset.name,
        "address": kind.address("detail", asset.pk),
        "text": asset.description,
        "facts": card.facts,
        "chips": [*card.chips, (asset.scope_name, "neutral")],
        "foot": f"Used by {users}" if users else "Not used yet",
        "menu": menu,
    }


@require_safe
@login_required
def detail(request: Request, kind: AssetKind[A], pk: UUID) -> HttpResponse:
    """One asset: in the drawer from the gallery, a page by its address."""
    asset = get_object_or_404(kind.visible_to(request.user), pk=pk)
    (card,) = cards(kind, [asset])
    context = {
        "kind": kind,
        "asset": asset,
        "facts": [
            *((name, value) for _, name, value in card.facts),
            *([(kind.chip, card.chips[0][0])] if NOT_VALID not in card.chips else []),
            ("Scope", asset.scope_name),
            ("Cluster", str(asset.cluster or EVERY)),
            ("Created by", asset.created_by.username if asset.created_by else ""),
        ],
        "yaml": as_yaml(kind, asset, request.user),
        "users": [
            (table.HOLDER.capitalize(), user)
            for table in tables()
            for user in table.made_with(kind.slug, pk).visible_to(request.user)[:MOST_USERS]
        ],
        "may_edit": kind.rows.editable_by(request.user).filter(pk=pk).exists(),
        "has_virtual_gpus": kind.counts_gpus and asset.cluster and asset.cluster.has_virtual_gpus,
        "in_drawer": in_drawer(request),
        "edit_address": kind.address("edit", pk),
        "copy_address": kind.address("copy", pk),
        "delete_address": kind.address("delete", pk),
    }
    return render_partial(request, "assets/detail.html", "detail", context)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def delete(request: Request, kind: AssetKind[A], pk: UUID) -> HttpResponse:
    """Ask (GET), then delete (POST). In use: 422 and who uses it."""
    asset = get_object_or_404(kind.visible_to(request.user), pk=pk)
    services.check_editable(kind, asset, request.user, "assets.delete")
    refusal = ""
    if request.method == "POST":
        try:
            services.delete(kind, asset, by=request.user)
        except services.AssetInUse as error:
            refusal = f"{error} Delete or change those first."
        else:
            messages.success(request, f"The {kind.noun} {asset.name} was deleted.")
            return done(request, kind.address("list"))
    return question_page(
        request,
        title=f"Delete {asset.name}?",
        text=f"The {kind.noun} is removed from the gallery. This cannot be undone. "
        + ("" if kind.stays_while_used else "Workloads that use it keep their own copy."),
        submit=f"Delete {kind.noun}",
        crumb=(kind.title, kind.address("list")),
        back=kind.address("detail", pk),
        refusal=refusal,
    )
