"""Galleries, as cards or as a table. ``kind`` comes from the route."""

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.http import Request
from assets.base import A, AssetCard, AssetKind
from assets.gallery.cards import asset_cards
from assets.gallery.table import GalleryState
from assets.links import usage_text
from core.web.http import render_partial
from core.web.sheets import line_writer
from projects.scopes import ME

CARDS_A_PAGE = 24
ROWS_A_PAGE = 50
LOOK = "gallery_look"  # of the session: how this person sees galleries
CARDS = "cards"
TABLE = "table"


@require_safe
@login_required
def listing(request: Request, kind: AssetKind[A]) -> HttpResponse:
    """Show the assets that the query selects. ``as`` is remembered for the session."""
    state = GalleryState(kind, request.GET, request.user)
    look = _remembered_look(request)
    size = ROWS_A_PAGE if look == TABLE else CARDS_A_PAGE
    page = Paginator(state.rows(), size).get_page(request.GET.get("page"))
    assets_with_cards = list(
        zip(page, asset_cards(kind, list(page), viewer=request.user), strict=True)
    )
    context = {
        "kind": kind,
        "state": state,
        "look": look,
        "page": page,
        "cards": _gallery_cards(request, kind, assets_with_cards) if look == CARDS else [],
        "rows": [
            (asset, [(it, it.text(asset, card)) for it in state.columns[1:]])
            for asset, card in (assets_with_cards if look == TABLE else [])
        ],
        "scopes": state.scopes,
        "authors": state.authors(),
        "address": kind.address("list"),
        **_creation_addresses(kind, state),
    }
    return render_partial(request, "assets/gallery.html", "cards", context)


@require_safe
@login_required
def export(request: Request, kind: AssetKind[A]) -> HttpResponse:
    """Download all assets that the query selects, as CSV."""
    state = GalleryState(kind, request.GET, request.user)
    write = line_writer()
    response = HttpResponse("".join(map(write, state.export())), content_type="text/csv")
    name = f"{kind.path}-{timezone.now():%Y%m%d-%H%M%S}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _creation_addresses(kind: AssetKind[A], state: GalleryState) -> dict[str, str]:
    """Return the address of the form of a new asset, or of the page where one begins, for those who
    may create one. From a list of personal assets the form creates a personal one."""
    if not kind.may_create(state.user):
        return {}
    if kind.has_form:
        query = f"?scope={ME}" if state.scope == ME else ""
        return {"create_address": f"{kind.address('create')}{query}"}
    return {"begin_address": f"{reverse(kind.start_route)}?{kind.start_query}"}


def _remembered_look(request: Request) -> str:
    requested_look = request.GET.get("as", "")
    if requested_look in {CARDS, TABLE} and requested_look != request.session.get(LOOK, CARDS):
        request.session[LOOK] = requested_look
    return str(request.session.get(LOOK, CARDS))


def _gallery_cards(
    request: Request, kind: AssetKind[A], assets_with_cards: list[tuple[Any, AssetCard]]
) -> list[dict[str, Any]]:
    rows = kind.rows.editable_by(request.user).filter(
        pk__in=[asset.pk for asset, _ in assets_with_cards]
    )
    editable_ids = set(rows.values_list("pk", flat=True))
    may_copy = kind.may_create(request.user)
    return [
        gallery_card(kind, asset, card, editable=asset.pk in editable_ids, may_copy=may_copy)
        for asset, card in assets_with_cards
    ]


def gallery_card(
    kind: AssetKind[A], asset: Any, card: AssetCard, *, editable: bool, may_copy: bool
) -> dict[str, Any]:
    """Values of ``components/asset_card.html``."""
    menu = [(kind.copy_verb, kind.address("copy", asset.pk), "copy")] if may_copy else []
    if editable:
        menu.insert(0, (kind.edit_verb, kind.address("edit", asset.pk), "pencil"))
        menu.append(("Delete", kind.address("delete", asset.pk), "trash"))
    usage = usage_text(asset)
    return {
        "title": asset.name,
        "address": kind.address("detail", asset.pk),
        "text": asset.description,
        "facts": card.facts,
        "why_not": card.why_not,
        "chips": [*card.chips, (asset.scope_name, "neutral")],
        "foot": f"Used by {usage}" if usage else "Not used yet",
        "menu": menu,
        "links": start_links(kind, asset, editable),
    }


def start_links(kind: AssetKind[A], asset: Any, editable: bool) -> list[tuple[str, str, str]]:
    """Return the links that start a workload with an asset, or edit the asset in the wizard: label,
    address, icon."""
    if not kind.start_route:
        return []
    project_query = {"project": asset.project_id} if asset.project_id else {}
    start_address = (
        f"{reverse(kind.start_route)}?{urlencode({kind.slug: asset.pk, **project_query})}"
    )
    edit_links = [("Edit", f"{start_address}&edit", "pencil")] if editable else []
    return [("Use", start_address, "player-play"), *edit_links]
