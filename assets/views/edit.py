"""Making, changing and copying assets. One form each, in the drawer or as a page."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods
from django_htmx.http import trigger_client_event

from accounts.http import Request
from assets import services
from assets.forms.base import AssetForm
from assets.kinds import Kind
from assets.scopes import Place
from assets.services import AnyAsset
from core.pages import done, form_page
from core.query import whole_number
from projects.models import Project
from spec.errors import SpecError

form_methods = require_http_methods(["GET", "HEAD", "POST"])


@form_methods
@login_required
def create(request: Request, kind: Kind) -> HttpResponse:
    """A new asset. The query may say ``project``, ``slot`` (who asked) and ``next``."""
    assert kind.create is not None  # noqa: S101 -- only such kinds have this route
    initial = kind.blank() | {"cluster": request.GET.get("cluster", "")}
    form = _form(request, kind, initial, place=_asked_place(request))
    if request.method == "POST" and form.is_valid():
        try:
            asset = kind.create(
                by=request.user,
                name=form.cleaned_data["name"],
                description=form.cleaned_data["description"],
                place=form.place,
                document=form.document(),
                **form.columns(),
            )
        except SpecError as error:
            form.add_problems(error)
        else:
            return _created(request, kind, asset)
    return _page(request, kind, form, f"New {kind.noun}", f"Create {kind.noun}")


@form_methods
@login_required
def edit(request: Request, kind: Kind, pk: UUID) -> HttpResponse:
    asset = get_object_or_404(kind.visible_to(request.user), pk=pk)
    if not kind.model.objects.editable_by(request.user).filter(pk=pk).exists():
        raise PermissionDenied(services.NOT_YOURS)
    form = _form(request, kind, _initial(kind, asset), place=Place.of(asset))
    for fixed in ("cluster", "scope"):
        form.fields[fixed].disabled = True
    if request.method == "POST" and form.is_valid():
        changes: dict[str, Any] = {"document": form.document()} if kind.create else {}
        try:
            services.update(
                asset,
                by=request.user,
                name=form.cleaned_data["name"],
                description=form.cleaned_data["description"],
                **changes,
                **form.columns(),
            )
        except SpecError as error:
            form.add_problems(error)
        else:
            messages.success(request, f"{asset.name} is saved.")
            return done(request, asset.get_absolute_url())
    return _page(request, kind, form, f"Edit {asset.name}", "Save changes")


@form_methods
@login_required
def copy(request: Request, kind: Kind, pk: UUID) -> HttpResponse:
    """The form of a new asset, filled with another one's values."""
    asset = get_object_or_404(kind.visible_to(request.user), pk=pk)
    initial = _initial(kind, asset) | {"name": services.free_name(asset)}
    mine = Place.of(asset)
    form = _form(request, kind, initial, place=mine if mine.open_to(request.user) else None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        where = {"name": data["name"], "description": data["description"], "place": form.place}
        try:
            if kind.create:
                twin = kind.create(
                    by=request.user, document=form.document(), **where, **form.columns()
                )
            else:
                twin = services.duplicate(asset, by=request.user, **where)
        except SpecError as error:
            form.add_problems(error)
        else:
            return _created(request, kind, twin)
    return _page(request, kind, form, f"Copy of {asset.name}", f"Create {kind.noun}")


def _form(request: Request, kind: Kind, initial: dict[str, Any], place: Place | None) -> AssetForm:
    data = request.POST if request.method == "POST" else None
    return kind.form(data, user=request.user, place=place, initial=initial)


def _initial(kind: Kind, asset: AnyAsset) -> dict[str, Any]:
    return {"name": asset.name, "description": asset.description, **kind.initial(asset)}


def _asked_place(request: Request) -> Place | None:
    """The project that the query names; else the only one there is."""
    mine = Project.objects.visible_to(request.user).for_list()
    asked = whole_number(request.GET.get("project", ""))
    if asked is not None:
        mine = mine.filter(pk=asked)
    elif request.GET.get("cluster"):
        return None
    found = list(mine[:2])
    return Place(found[0]) if len(found) == 1 else None


def _page(request: Request, kind: Kind, form: AssetForm, title: str, submit: str) -> HttpResponse:
    form.fields["cluster"].widget.attrs |= {  # another cluster, other scopes
        "hx-get": request.path,
        "hx-target": "#scope-field",
        "hx-select": "#scope-field",
        "hx-swap": "outerHTML",
    }
    return form_page(
        request,
        form,
        title=title,
        submit=submit,
        fields="assets/fields.html",
        crumb=(kind.title, kind.address("list")),
        back=_next(request),
        kind=kind,
    )


def _created(request: Request, kind: Kind, asset: AnyAsset) -> HttpResponse:
    """Tell the page that asked which asset it got, with htmx and without."""
    messages.success(request, f"The {kind.noun} {asset.name} is created.")
    slot, back = request.GET.get("slot", ""), _next(request)
    if request.htmx:
        found = {"kind": kind.slug, "id": str(asset.pk), "slot": slot}
        return trigger_client_event(done(request, ""), "asset-created", found)
    if not back:
        return redirect(asset)
    joint = "&" if "?" in back else "?"
    return redirect(f"{back}{joint}{urlencode({kind.slug: asset.pk, 'slot': slot})}")


def _next(request: Request) -> str:
    """Where to go back to, if it is an address of ours."""
    back = request.GET.get("next", "")
    ours = url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure())
    return back if ours else ""
