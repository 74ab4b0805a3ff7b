"""Galleries and the pages of single assets. ``kind`` comes from the route."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import Request
from assets import services
from assets.kinds import COMPUTE, TEMPLATE, Kind, yaml_of
from assets.scopes import Scope
from core.http import render_partial
from core.pages import done, in_drawer, question_page
from core.query import search_text

CARDS_A_PAGE = 24


@require_safe
@login_required
def listing(request: Request, kind: Kind) -> HttpResponse:
    """The gallery; ``q`` searches, ``scope`` filters."""
    found = kind.visible_to(request.user).order_by("name", "pk")
    text, scope = search_text(request.GET), request.GET.get("scope", "")
    if text:
        found = found.search(text)
    if scope in Scope.values:
        found = found.filter(scope=scope)
    page = Paginator(found, CARDS_A_PAGE).get_page(request.GET.get("page"))
    editable = set(
        kind.model.objects.editable_by(request.user)
        .filter(pk__in=[asset.pk for asset in page])
        .values_list("pk", flat=True)
    )
    context = {
        "kind": kind,
        "page": page,
        "cards": [gallery_card(kind, asset, asset.pk in editable) for asset in page],
        "scopes": Scope.choices,
        "q": text,
        "scope": scope,
        "address": kind.address("list"),
        "create_address": kind.address("create") if kind.create else "",
    }
    return render_partial(request, "assets/gallery.html", "cards", context)


def gallery_card(kind: Kind, asset: Any, editable: bool) -> dict[str, Any]:
    """Values of ``components/asset_card.html``."""
    card = kind.card(asset)
    menu = [(kind.copy_verb, kind.address("copy", asset.pk), "copy")]
    if editable:
        menu.insert(0, (kind.edit_verb, kind.address("edit", asset.pk), "pencil"))
        menu.append(("Delete", kind.address("delete", asset.pk), "trash"))
    used = f"Used by {asset.used_by} workload{'' if asset.used_by == 1 else 's'}"
    return {
        "title": asset.name,
        "address": asset.get_absolute_url(),
        "text": asset.description,
        "facts": card.facts,
        "chips": [*card.chips, (asset.scope_name, "neutral")],
        "foot": used if asset.used_by else "Not used yet",
        "menu": menu,
    }


@require_safe
@login_required
def detail(request: Request, kind: Kind, pk: UUID) -> HttpResponse:
    """One asset: in the drawer from the gallery, a page by its address."""
    asset = get_object_or_404(kind.visible_to(request.user), pk=pk)
    card = kind.card(asset)
    context = {
        "kind": kind,
        "asset": asset,
        "facts": [
            *((name, value) for _, name, value in card.facts),
            ("For", card.chips[0][0]),
            ("Scope", asset.scope_name),
            ("Cluster", asset.cluster.name),
            ("Created by", asset.created_by.username if asset.created_by else ""),
        ],
        "yaml": yaml_of(asset),
        "workloads": asset.workloads.visible_to(request.user).order_by("-created_at")[:20],
        "templates": [] if kind is TEMPLATE else asset.templates.visible_to(request.user),
        "may_edit": kind.model.objects.editable_by(request.user).filter(pk=pk).exists(),
        "has_virtual_gpus": kind is COMPUTE and asset.cluster.has_virtual_gpus,
        "in_drawer": in_drawer(request),
        "edit_address": kind.address("edit", pk),
        "copy_address": kind.address("copy", pk),
        "delete_address": kind.address("delete", pk),
    }
    return render_partial(request, "assets/detail.html", "detail", context)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def delete(request: Request, kind: Kind, pk: UUID) -> HttpResponse:
    """Ask (GET), then delete (POST). In use: 422 and who uses it."""
    asset = get_object_or_404(kind.visible_to(request.user), pk=pk)
    refusal = ""
    if request.method == "POST":
        try:
            services.delete(asset, by=request.user)
        except services.InUse as error:
            refusal = f"{error} Delete or change what uses it first."
        else:
            messages.success(request, f"The {kind.noun} {asset.name} is deleted.")
            return done(request, kind.address("list"))
    return question_page(
        request,
        title=f"Delete {asset.name}?",
        text=f"The {kind.noun} leaves the gallery for good. "
        "Workloads that were made with it keep their own copy of its values.",
        submit=f"Delete {kind.noun}",
        crumb=(kind.title, kind.address("list")),
        back=asset.get_absolute_url(),
        refusal=refusal,
    )
