"""The forms that create, change and copy assets, in the drawer or as pages."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_http_methods

from accounts.http import Request
from assets import services
from assets.base import A, AssetKind
from assets.forms.base import AssetForm
from core.web.pages import form_page, respond_after_change, respond_with_created, return_address
from core.web.query import parse_number
from projects.models import Project
from projects.scopes import ME, OwningScope
from spec.problems.errors import SpecError

form_methods = require_http_methods(["GET", "HEAD", "POST"])


@form_methods
@login_required
def create(request: Request, kind: AssetKind[A]) -> HttpResponse:
    """Create an asset. The query may have ``project``, ``next``, a ``type``, and ``slot``: the
    input that the new asset is for."""
    services.check_creatable(kind, request.user)
    initial = kind.blank_values() | {"cluster": request.GET.get("cluster", "")}
    if "kind" in initial and request.GET.get("type") in dict(kind.types):
        initial["kind"] = request.GET["type"]
    form = _form(request, kind, initial, scope=_requested_scope(request, kind))
    if request.method == "POST" and form.is_valid():
        try:
            asset = services.create(
                kind,
                by=request.user,
                name=form.name,
                description=form.description,
                scope=form.scope,
                document=form.document(),
                **form.columns(),
            )
        except SpecError as error:
            form.add_verdict(error)
        else:
            return _respond_with_asset(request, kind, asset)
    return _page(request, kind, form, f"New {kind.noun}", f"Create {kind.noun}")


@form_methods
@login_required
def edit(request: Request, kind: AssetKind[A], pk: UUID) -> HttpResponse:
    asset = get_object_or_404(kind.visible_to(request.user), pk=pk)
    services.check_editable(kind, asset, request.user)
    fixed_fields = ("cluster", "scope")
    form = _form(
        request,
        kind,
        _initial_values(kind, asset),
        scope=OwningScope.from_asset(asset),
        fixed=fixed_fields,
    )
    if request.method == "POST" and form.is_valid():
        changes: dict[str, Any] = {"document": form.document()} if kind.has_form else {}
        try:
            services.update(
                kind,
                asset,
                by=request.user,
                name=form.name,
                description=form.description,
                **changes,
                **form.columns(),
            )
        except SpecError as error:
            form.add_verdict(error)
        else:
            messages.success(request, f"{asset.name} was saved.")
            return respond_after_change(request, kind.address("detail", pk))
    return _page(request, kind, form, f"Edit {asset.name}", "Save changes")


@form_methods
@login_required
def copy(request: Request, kind: AssetKind[A], pk: UUID) -> HttpResponse:
    """Create an asset from a form that starts with the values of another asset."""
    asset = get_object_or_404(kind.visible_to(request.user), pk=pk)
    services.check_creatable(kind, request.user)
    initial = _initial_values(kind, asset) | {"name": services.free_name(kind, asset)}
    scope = OwningScope.from_asset(asset)
    may_create = scope.is_open_to(request.user, kind.model.permission("create"))
    form = _form(request, kind, initial, scope=scope if may_create else None)
    if request.method == "POST" and form.is_valid():
        shared_values: dict[str, Any] = {
            "name": form.name,
            "description": form.description,
            "scope": form.scope,
        }
        try:
            if kind.has_form:
                new_asset = services.create(
                    kind,
                    by=request.user,
                    document=form.document(),
                    **shared_values,
                    **form.columns(),
                )
            else:
                new_asset = services.duplicate(kind, asset, by=request.user, **shared_values)
        except SpecError as error:
            form.add_verdict(error)
        else:
            return _respond_with_asset(request, kind, new_asset)
    return _page(request, kind, form, f"Copy of {asset.name}", f"Create {kind.noun}")


def _form(
    request: Request,
    kind: AssetKind[A],
    initial: dict[str, Any],
    scope: OwningScope | None,
    fixed: tuple[str, ...] = (),
) -> AssetForm:
    posted = request.POST if request.method == "POST" else None
    return kind.form(posted, user=request.user, scope=scope, initial=initial, fixed=fixed)


def _initial_values(kind: AssetKind[A], asset: A) -> dict[str, Any]:
    return {"name": asset.name, "description": asset.description, **kind.initial_values(asset)}


def _requested_scope(request: Request, kind: AssetKind[A]) -> OwningScope | None:
    """Return the scope that the query names: the user or a project; else the only project that the
    user sees."""
    if kind.may_be_personal and request.GET.get("scope") == ME:
        return OwningScope(owner=request.user)
    projects = Project.objects.visible_to(request.user).for_list()
    project_id = parse_number(request.GET.get("project", ""))
    if project_id is not None:
        projects = projects.filter(pk=project_id)
    elif request.GET.get("cluster"):
        return None
    candidates = list(projects[:2])
    return OwningScope(candidates[0]) if len(candidates) == 1 else None


def _page(
    request: Request, kind: AssetKind[A], form: AssetForm, title: str, submit: str
) -> HttpResponse:
    form["cluster"].attributes = {  # another cluster, other scopes
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
        back=return_address(request),
        kind=kind,
    )


def _respond_with_asset(request: Request, kind: AssetKind[A], asset: A) -> HttpResponse:
    """Tell the page that requested the asset which one was created, with htmx and without."""
    messages.success(request, f"The {kind.noun} {asset.name} was created.")
    return respond_with_created(request, kind.slug, asset.pk, kind.address("detail", asset.pk))
